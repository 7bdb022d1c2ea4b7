"""The entropy gate: find the texts that add nothing to a better one (source: 000).

In: texts, best first. Out: which of them say what a better one says.
Touches nothing.

A text adds nothing to a better one of about the same length if all its words are there, but for
fillers such as "really"; or if the caller knows the vectors of both to be close. Either way a text
stays if its numbers, negations or question marks are others, or in another order: vectors hardly
show a "not" or another date. By words it stays, too, if names are in another order.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain

# A word, a number with its sign and unit, or a symbol such as an emoji; spaces are passed at once.
_WORD = re.compile(
    r"(?=\S)(?:[^\W\d]\w*(?:'\w+)*|(?<!\w)[-\u2212$\u20ac\u00a3\u00a5]?\d\w*%?"
    r"|[^\w\s!-/:->@\[-`{-~\u2010-\u2027\u00a1-\u00bf])"
)
_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty "
    "ninety hundred thousand million billion first second third once twice half "
    "yesterday today tomorrow"
)
_NEGATIONS = (
    "no not never none nothing nobody nowhere neither nor cannot without "
    "dont doesnt didnt isnt arent wasnt werent wont wouldnt cant couldnt shouldnt hasnt havent "
    "nicht kein keine keinen nie niemals ohne pas jamais sans sin nunca jam\u00e1s n\u00e3o sem "
    "non mai senza niet geen nooit"
)
_FILLING = (
    "a an the and so just really that very also too quite indeed well oh hey ok please actually "
    "simply"
)
_FILLERS = frozenset(_FILLING.split())
_DECISIVE = frozenset([*_NUMBERS.split(), *_NEGATIONS.split(), "?"])


class _Said:
    """What counts of a text: its words at once; the rest for the few that are compared."""

    def __init__(self, text: str) -> None:
        self._text = text
        words = frozenset(map(str.casefold, _read(text)))
        self.words = words or frozenset([text])  # punctuation alone says itself
        self.content = self.words - _FILLERS or self.words

    @cached_property
    def _written(self) -> list[str]:
        return _read(self._text)  # again, for few: the lists of all texts cost more to keep

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word stands there."""
        return Counter(map(str.casefold, self._written)) or Counter(self.words)

    @cached_property
    def decisive(self) -> tuple[str, ...]:
        """Numbers, negations and question marks, in order."""
        return tuple(filter(_is_decisive, map(str.casefold, self._written)))

    @cached_property
    def capitals(self) -> tuple[str, ...]:
        """Words with a capital, in order."""
        return tuple(word.casefold() for word in self._written if word[0].isupper())


def find_duplicates(
    texts: Sequence[tuple[str, str]],
    *,
    overlap: float | None,
    near: Iterable[tuple[str, str]] = (),
) -> dict[str, str]:
    """Find the texts that add nothing to a better one that stays.

    Parameters
    ----------
    texts
        (id, text), best first; distinct ids, no text blank.
    overlap
        Least share of words in common, words of both / words of either, above 0 up to 1; None
        compares no words.
    near
        Pairs of ids whose vectors are close, in any order.

    Returns
    -------
    dict
        Id of a duplicate -> id of the best text that it repeats, which is no duplicate itself.

    Notes
    -----
    All words of a duplicate stand in what it repeats, so only the texts that hold its rarest word
    are compared: about linear in the words of all texts.
    """
    said = [_Said(text) for _, text in texts]
    common = Counter(chain.from_iterable(one.words for one in said))
    # One of the rarest, whichever: a better text holds them all.
    rarest = [min(one.content, key=common.__getitem__) for one in said]
    asked = frozenset(rarest)
    close: dict[str, set[str]] = defaultdict(set)
    for one, other in near:
        close[one].add(other)
        close[other].add(one)
    holders: dict[str, list[int]] = defaultdict(list)  # rarest word -> texts that stay
    kept: dict[str, int] = {}
    found: dict[str, str] = {}
    for number, (name, _) in enumerate(texts):
        this = said[number]
        same = [
            kept[other]
            for other in close[name] & kept.keys()
            if said[kept[other]].decisive == this.decisive
        ]
        if overlap is not None:
            holding = holders[rarest[number]]
            same += [n for n in holding if _adds_nothing(this, said[n], overlap)]
        if same:
            found[name] = texts[min(same)][0]
            continue
        kept[name] = number
        for word in asked & this.words:
            holders[word].append(number)
    return found


def _read(text: str) -> list[str]:
    return _WORD.findall(text.replace("\u2019", "'"))


def _is_decisive(word: str) -> bool:
    if word.isalpha():  # nearly all: neither digits nor an apostrophe
        return word in _DECISIVE
    return word in _DECISIVE or word.endswith("n't") or any(map(str.isdigit, word))


def _adds_nothing(one: _Said, better: _Said, overlap: float) -> bool:
    if not one.content <= better.words:  # where nearly all pairs end
        return False
    if one.decisive != better.decisive:
        return False
    shared = len(one.words & better.words)
    if shared < overlap * (len(one.words) + len(better.words) - shared) - 1e-9:
        return False
    if any(one.counts[word] > better.counts[word] for word in one.content):
        return False
    names = set(one.capitals) & set(better.capitals)  # the start of a sentence is seldom in both
    first, second = ([word for word in said.capitals if word in names] for said in (one, better))
    return first == second
