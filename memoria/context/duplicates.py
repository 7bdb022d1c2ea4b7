"""The entropy gate: find the texts that add nothing to a better text (source: 000).

In: texts, best first. Out: which texts say the same as a better one.
Touches nothing.

A text adds nothing to a better text of about the same length if the better text has all of its
words, except fillers such as "really"; or if the caller knows that their vectors are close. In both
cases a text stays if its numbers, negations or question marks differ, or come in another order,
because vectors hardly show a "not" or another date. In the comparison of words, a text also stays
if its names come in another order.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain

# A word, a number with its sign and unit, or a symbol such as an emoji. The pattern begins with a
# look-ahead, so that spaces are passed over quickly.
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
    """The words of a text; and, for the few texts that are compared, what else decides."""

    def __init__(self, text: str) -> None:
        self._text = text
        words = frozenset(map(str.casefold, _read(text)))
        self.words = words or frozenset([text])  # a text of punctuation is its own word
        self.content = self.words - _FILLERS or self.words

    @cached_property
    def _written(self) -> list[str]:
        return _read(
            self._text
        )  # read again for few texts: keeping the lists of all would cost more

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word occurs in the text."""
        return Counter(map(str.casefold, self._written)) or Counter(self.words)

    @cached_property
    def decisive(self) -> tuple[str, ...]:
        """Numbers, negations and question marks, in the order of the text."""
        return tuple(filter(_is_decisive, map(str.casefold, self._written)))

    @cached_property
    def capitals(self) -> tuple[str, ...]:
        """Words with a capital letter, in the order of the text."""
        return tuple(word.casefold() for word in self._written if word[0].isupper())


def find_duplicates(
    texts: Sequence[tuple[str, str]],
    *,
    overlap: float | None,
    near: Iterable[tuple[str, str]] = (),
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

    Returns
    -------
    dict
        Id of a duplicate -> id of the best text that it repeats, which is not a duplicate itself.

    Notes
    -----
    A text that is repeated has all words of its duplicate, so a text is compared only with the
    texts that have its rarest word. The cost is about linear in the number of words of all texts.
    """
    said = [_Said(text) for _, text in texts]
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
    if word.isalpha():  # the quick way for most words: no digits, no apostrophe
        return word in _DECISIVE
    return word in _DECISIVE or word.endswith("n't") or any(map(str.isdigit, word))


def _adds_nothing(one: _Said, better: _Said, overlap: float) -> bool:
    if not one.content <= better.words:  # true of nearly all pairs
        return False
    if one.decisive != better.decisive:
        return False
    shared = len(one.words & better.words)
    if shared < overlap * (len(one.words) + len(better.words) - shared) - 1e-9:
        return False
    if any(one.counts[word] > better.counts[word] for word in one.content):
        return False
    names = set(one.capitals) & set(
        better.capitals
    )  # leaves out most words that only begin a sentence
    first, second = ([word for word in said.capitals if word in names] for said in (one, better))
    return first == second
