"""The entropy gate: find the texts that add nothing to a better text (source: 000).

In: texts, best first. Out: which texts say the same as a better one.
Touches nothing.

A text adds nothing to a better text of the same speaker if the better text contains its words in
the same order (`memoria.formulas.repeats`), or if the caller knows that their vectors are close. In
both cases a text stays if its numbers, negations or question marks differ or are in another order,
because vectors hardly show a "not" or another date.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from memoria._support.keeping import kept
from memoria.formulas.repeats import Said, adds_nothing

_said = kept(1_024, max_chars=500)(Said)


def find_duplicates(
    texts: Sequence[tuple[str, str]],
    *,
    overlap: float | None,
    near: Iterable[tuple[str, str]] = (),
    speakers: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Find the texts that add nothing to a better text that stays.

    Parameters
    ----------
    texts
        (id, text), the best first; no id occurs twice, and no text is blank.
    overlap
        Lowest share of common words (words of both / words of either), above 0, up to 1; None does
        not compare words.
    near
        Pairs of ids whose vectors are close, in any order.
    speakers
        Id -> speaker. Texts of different speakers are never duplicates.

    Returns
    -------
    dict
        Id of a duplicate -> id of the best text that it repeats, which is not a duplicate itself.

    Notes
    -----
    A text that is repeated has all words of its duplicate, so a text is compared only with the
    texts that have its rarest word. The cost is about linear in the number of words of all texts.
    """
    said = [_said(text) for _, text in texts]
    by = [(speakers or {}).get(name, "") for name, _ in texts]
    common = Counter(chain.from_iterable(one.words for one in said))
    # Any of the rarest words will do, because a repeated text has all of them.
    rarest = [min(one.content, key=common.__getitem__) for one in said]
    asked = frozenset(rarest)
    close: dict[str, set[str]] = defaultdict(set)
    for one, other in near:
        close[one].add(other)
        close[other].add(one)
    holders: dict[str, list[int]] = defaultdict(list)  # rarest word -> texts that stay and have it
    kept: dict[str, int] = {}
    found: dict[str, str] = {}
    for number, (name, _) in enumerate(texts):
        this = said[number]
        same = [
            kept[other]
            for other in close[name] & kept.keys()
            if by[kept[other]] == by[number] and said[kept[other]].decisive == this.decisive
        ]
        if overlap is not None:
            holding = holders[rarest[number]]
            same += [
                n for n in holding if by[n] == by[number] and adds_nothing(this, said[n], overlap)
            ]
        if same:
            found[name] = texts[min(same)][0]
            continue
        kept[name] = number
        for word in asked & this.words:
            holders[word].append(number)
    return found
