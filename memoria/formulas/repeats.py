"""When a text adds nothing to another text, by its words (source: 000, the entropy gate).

In: two texts. Out: whether the one repeats the other. Touches nothing.

A text adds nothing to a better text of about the same length if the better text has all of its
words, except fillers such as "really". It still adds something if its numbers, negations, question
marks, or signs such as those of `C++` and `4/5` differ, or come in another order, or if its names
come in another order.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

# A word with its signs (C++, A-), a number with its signs and unit (4/5, 9:30, 2-5), or a symbol
# such as an emoji. The pattern begins with a look-ahead, so that spaces are passed over quickly.
_WORD = re.compile(
    r"(?=\S)(?:[^\W\d_]-(?![\w-])|[^\W\d]\w*(?:'\w+)*(?:[+#]+(?!\w))?"
    r"|(?<!\w)[-\u2212$\u20ac\u00a3\u00a5]?\d\w*(?:[-/:]\d\w*)*%?"
    r"|[^\w\s!-/:->@\[-`{-~\u2010-\u2027\u00a1-\u00bf])"
)
_COMPARISON = re.compile(r"(?<=[\w)\]])[<>=]+|(?<=[\w)\]] )[<>=]+|!=")
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
_QUALIFIERS = frozenset(
    """
    almost barely before but could except hardly if likely may maybe might mostly nearly often only
    or partly perhaps planned possibly probably rarely should sometimes supposed supposedly unless
    until usually would
    """.split()  # noqa: SIM905  # words, not a table
)
# Of the words of a text that is already known, fillers not counted, so many are in its repetition.
_KEPT = 0.8
_FILLERS = frozenset(_FILLING.split())
_DECISIVE = frozenset([*_NUMBERS.split(), *_NEGATIONS.split(), "?"])


class Said:
    """The words of a text; and, for the few texts that are compared, what else decides."""

    def __init__(self, text: str) -> None:
        self._text = text
        words = frozenset(map(str.casefold, _read(text)))
        self.words = words or frozenset([text])  # a text of punctuation is its own word
        self.content = self.words - _FILLERS or self.words

    @cached_property
    def _written(self) -> list[str]:
        # read again for few texts: keeping the lists of all would cost more
        return _read(self._text)

    @property
    def said(self) -> list[str]:
        """The words in the order of the text, without fillers."""
        return [word for word in map(str.casefold, self._written) if word in self.content]

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word occurs in the text."""
        return Counter(map(str.casefold, self._written)) or Counter(self.words)

    @cached_property
    def decisive(self) -> tuple[str, ...]:
        """Numbers, negations and question marks, in the order of the text; then comparisons."""
        words = filter(_is_decisive, map(str.casefold, self._written))
        return (*words, *_COMPARISON.findall(self._text))

    @cached_property
    def capitals(self) -> tuple[str, ...]:
        """Words with a capital letter, in the order of the text."""
        return tuple(word.casefold() for word in self._written if word[0].isupper())


def _read(text: str) -> list[str]:
    return _WORD.findall(text.replace("\u2019", "'"))


def _is_decisive(word: str) -> bool:
    if word.isalpha():  # the quick way for most words: no digits, no apostrophe
        return word in _DECISIVE
    return word in _DECISIVE or word.endswith("n't") or any(map(str.isdigit, word))


def adds_nothing(one: Said, better: Said, overlap: float) -> bool:
    """Tell whether ``better`` says everything that ``one`` says, in the same order.

    Parameters
    ----------
    overlap
        Lowest share of common words (words of both / words of either), 0 to 1.

    >>> adds_nothing(Said("Ada really likes tea"), Said("Ada likes tea."), 0.7)
    True
    >>> adds_nothing(Said("Ada likes no tea"), Said("Ada likes tea."), 0.5)
    False
    >>> adds_nothing(Said("anna: parents: bob"), Said("bob: parents: anna"), 0.5)
    False
    """
    if not one.content <= better.words:  # true of nearly all pairs
        return False
    if one.decisive != better.decisive:
        return False
    shared = len(one.words & better.words)
    if shared < overlap * (len(one.words) + len(better.words) - shared) - 1e-9:
        return False
    if any(one.counts[word] > better.counts[word] for word in one.content):
        return False
    # leaves out most words that only begin a sentence
    names = set(one.capitals) & set(better.capitals)
    first, second = ([word for word in said.capitals if word in names] for said in (one, better))
    rest = iter(better.said)
    return first == second and all(word in rest for word in one.said)


def repeats(text: str, known: str) -> bool:
    """Tell whether a text may be left unwritten because a known text says it.

    Stricter than `adds_nothing`, because an unwritten text is lost: the additional words of the
    known text must not weaken it ("probably", "if"), and may be at most a fifth of it.

    >>> repeats("Ada really likes tea", "Ada likes tea.")
    True
    >>> repeats("The dog bit the man", "The man bit the dog"), repeats("It costs 6", "It costs 5")
    (False, False)
    >>> repeats("The shop is closed", "The shop is probably closed")
    False
    """
    one, other = Said(text), Said(known)
    if len(one.content) < _KEPT * len(other.content) or _QUALIFIERS & (other.words - one.words):
        return False
    return adds_nothing(one, other, 0.0)
