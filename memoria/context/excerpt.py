"""Choose the sentences of a long text that matter for a question.

In: a text, the words of a question. Out: some of its sentences, in their order. Touches nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from memoria._support.stems import each_content_word, stem
from memoria.context.tokens import CountTokens

ELLIPSIS = "…"
# Ends of sentences, each with what follows it up to the next one.
_SENTENCE = re.compile(r".+?(?:[.!?…]+[\"')\]”’»*]*\s+|[。！？]+\s*|\n\s*|$)", re.DOTALL)
# What a sentence takes from the better one of its neighbours: the answer may stand next to the
# words of the question.
_NEAR = 0.5


def excerpt(text: str, terms: Collection[str], tokens: int, count: CountTokens) -> str:
    """Return sentences of a text of about so many tokens; an ellipsis marks what is left out.

    Parameters
    ----------
    terms
        Stems of the question's words; see `memoria._support.stems.query_terms`. Sentences that
        have the rarest of them, and those next to these, come first; without any, the beginning.

    Returns
    -------
    str
        The whole text if it is as short; "" if not even a word fits.
    """
    sentences = _SENTENCE.findall(text)
    wanted = _order(sentences, terms)
    taken: set[int] = set()
    left = tokens
    for place in wanted:
        left -= count(sentences[place]) + 1  # the ellipsis
        if left < 0:
            break
        taken.add(place)
    if not taken and sentences:
        return _beginning(sentences[wanted[0]], tokens, count, is_first=wanted[0] == 0)
    return _joined(sentences, taken)


def _order(sentences: list[str], terms: Collection[str]) -> list[int]:
    """Return the places of sentences, those to be taken first at the beginning."""
    known = frozenset(terms)
    said = [known.intersection(map(stem, each_content_word(one))) for one in sentences]
    common = Counter(term for one in said for term in one)
    own = [sum(1 / common[term] for term in one) for one in said]
    near = [max(own[max(n - 1, 0)], *own[n + 1 : n + 2], 0.0) for n in range(len(own))]
    worth = [one + _NEAR * other for one, other in zip(own, near, strict=True)]
    return sorted(range(len(sentences)), key=lambda place: (-worth[place], place))


def _joined(sentences: list[str], taken: Collection[int]) -> str:
    parts: list[str] = []
    for place, sentence in enumerate(sentences):
        if place in taken:
            parts.append(sentence)
        elif not parts or parts[-1] != f"{ELLIPSIS} ":
            parts.append(f"{ELLIPSIS} ")
    text = "".join(parts).strip()
    if not text.endswith(f"\n{ELLIPSIS}"):
        return text
    return f"{text.removesuffix(ELLIPSIS).rstrip()} {ELLIPSIS}"  # no line of its own


def _beginning(sentence: str, tokens: int, count: CountTokens, *, is_first: bool) -> str:
    """Return the first words of a sentence, or the beginning of a word that is too long itself."""
    before = "" if is_first else f"{ELLIPSIS} "
    low, high = 0, len(sentence)
    while low < high:
        middle = (low + high + 1) // 2
        if count(f"{before}{sentence[:middle]}{ELLIPSIS}") <= tokens:
            low = middle
        else:
            high = middle - 1
    cut = sentence[:low]
    if low < len(sentence) and not sentence[low].isspace():
        cut = cut[: max(cut.rfind(" "), cut.rfind("\n")) + 1] or cut
    return f"{before}{cut.rstrip()}{ELLIPSIS}" if cut.strip() else ""
