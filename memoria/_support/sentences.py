"""Split a text into sentences, and tell whether it asks something.

In: a text. Out: sentences, or a verdict. Touches nothing.
"""

from __future__ import annotations

import re

_BETWEEN = re.compile(r"(?<=[.!?؟。！？])\s+|(?<=[。！？])(?=\w)|\n")
# After a question mark: no word, no further question mark, and nothing that closes a quotation.
_ASKS = re.compile(r"[?？؟][^\w?？؟\"'“”’»›」』)\]）】]*+\Z")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text.

    >>> sentences("Hello! Where do I live?")
    ['Hello!', 'Where do I live?']
    >>> sentences("引っ越しました。どこですか？")
    ['引っ越しました。', 'どこですか？']
    """
    return _BETWEEN.split(text.strip())


def asks(text: str) -> bool:
    """Tell whether a text ends with a question, by a question mark after its last word.

    A question within brackets or quotation marks is part of a statement.

    >>> asks("We moved. Where do I live?!"), asks("どこですか？"), asks("Why? Because it rained.")
    (True, True, False)
    >>> asks('Who is "Ann"?'), asks("Where do I live (now)?"), asks("「砂丘」？")
    (True, True, True)
    >>> asks("Our rent is 900 (or 950?)"), asks("Er fragte: „Wo?“"), asks("家賃は（950？）")
    (False, False, False)
    """
    return _ASKS.search(text) is not None
