"""Choose the sentences of a long text that matter for a question.

In: a text, the words of a question. Out: some sentences, in text order. Touches nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from memoria._support.stems import each_content_word, stem
from memoria.recall.context.tokens import CountTokens

ELLIPSIS = "…"
# A sentence with the white space after it. The number of an item in a list is not a sentence. A run
# of dots is read once, from its beginning, so that the time grows with the length of the text.
_END = r"[\"')\]”’»*]*+\s+"
_SENTENCE = re.compile(
    r"(?:(?:[-*•]\s+)?(?:\d{1,3}|[A-Za-z])[.)]\s+)?"
    rf"(?:[.!?…]{{2,}}+{_END}"
    rf"|.+?(?:(?<![.!?…])[.!?…]++{_END}|[。！？]+\s*|\n\s*|$))",
    re.DOTALL,
)
# Share that a sentence gets from its better neighbour: the answer may be next to the sentence with
# the words of the question.
_NEAR = 0.5


def excerpt(text: str, terms: Collection[str], tokens: int, count: CountTokens) -> str:
    """Return sentences of a text with at most about ``tokens`` tokens; an ellipsis marks each gap.

    Parameters
    ----------
    terms
        Stems of the question's words; see `memoria._support.stems.query_terms`. Sentences with the
        rarest terms and their neighbours are taken first; without any term, the first sentences.

    Returns
    -------
    str
        The whole text if it is short enough; "" if not even a word fits.
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
    """Return the indices of the sentences, most useful first."""
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
    return f"{text.removesuffix(ELLIPSIS).rstrip()} {ELLIPSIS}"  # not on a line of its own


def _beginning(sentence: str, tokens: int, count: CountTokens, *, is_first: bool) -> str:
    """Return the first words of a sentence, or the start of its first word if that is too long."""
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
