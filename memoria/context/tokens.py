"""Count the tokens of a text.

In: a text. Out: a whole number.
Touches nothing.
"""

from __future__ import annotations

from collections.abc import Callable

CountTokens = Callable[[str], int]


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of ``text`` as its UTF-8 bytes divided by four, rounded up.

    This is an estimate, not a tokenizer: close for English prose, too low for code, digits and
    identifiers; ``docs/context.md`` has figures. If the limit is strict, pass the token counter of
    the model that will read the text.
    """
    return -(-len(text.encode("utf-8", errors="surrogatepass")) // 4)
