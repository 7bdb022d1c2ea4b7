"""Count the tokens of a text.

In: a text. Out: a whole number. Touches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

CountTokens = Callable[[str], int]

# A text costs as much as its words, which are separated by white space, and that white space. So
# the cost of each word is counted once. Costs are averages of the encoding ``o200k_base``, in
# hundredths of a token: whole numbers have the same sum in any order.
_LETTERS = re.compile("[A-Z\u00c0-\u00de]?[a-z\u00df-\u024f]+|[A-Z\u00c0-\u00de]+")
# Kinds of pieces of a word: the cost of a piece, and of each of its characters.
_PIECES = (
    (_LETTERS, 100, 0),
    (re.compile(r"\d{1,3}"), 120, 0),
    (re.compile("[\u3040-\u309f]+"), 0, 60),  # hiragana
    (re.compile("[\u30a0-\u30ff]+"), 60, 60),  # katakana
    (re.compile("[\u3400-\u9fff]"), 105, 0),
    # Letters of other scripts.
    (re.compile("[^\\W\\d_A-Za-z\u00c0-\u024f\u3040-\u30ff\u3400-\u9fff]"), 250, 0),
    # A mark right before a letter shares a token with the letters.
    (re.compile(r"(?:[^\w\s]|_)+(?![^\W\d_])"), 100, 10),
)
_SPACE_BEFORE_DIGIT, _BEFORE_DIGIT = re.compile(r" (?=\d)"), 40
_SPACES, _SEVERAL_SPACES = re.compile(r"[^\S\n]{2,}"), 100
# A line break after a mark shares a token with it. A pattern that begins with a character is fast.
_BREAK, _BREAKS = re.compile(r"\n(?<![^\w\s]\n)\n*"), 180
# Long words cost more, but less in English and in code than in other languages: the number of free
# characters, and the cost of each further one.
_LONG_ENGLISH = (8, 7)
_LONG = (5, 19)
_ENGLISH = frozenset(
    """
    a and are as at be can for from have i in is it my not of on or our that the this to was we with
    you your
    """.split()  # noqa: SIM905  # words, not a table
)
_ENGLISH_SHARE = 0.05  # least share of all words
_SYMBOL = re.compile(r"[_(){}=;\[\]<>/\\]")
_SYMBOL_SHARE = 0.04  # least share of all characters in code
# The counts of a word, packed into one whole number so that those of many words add up at once: its
# cost without long letters, the cost of these by each rule, and its pieces of letters, common
# English words and symbols.
_BITS = 40
_MASK = (1 << _BITS) - 1
_FIELDS = 6
# Counts are kept for this many words, and lines of texts, of up to so many characters.
_MOST_WORDS, _MOST_LETTERS = 50_000, 40
_MOST_LINES, _MOST_CHARS = 8_192, 1_000
# Characters that have more than one token in most texts; and a bit more than the cost of one mark.
_ENOUGH, _LAST_MARK = 6, 120


class _Kept(dict[str, int]):
    """Text -> its counts, packed; filled when a text occurs.

    Parameters
    ----------
    most, most_chars
        Counts are kept for so many texts, each of up to so many characters.
    """

    def __init__(self, count: Callable[[str], int], most: int, most_chars: int) -> None:
        super().__init__()
        self._count, self._most, self._most_chars = count, most, most_chars

    def __missing__(self, text: str) -> int:
        counts = self._count(text)
        if len(text) <= self._most_chars:
            if len(self) >= self._most:
                self.clear()
            self[text] = counts
        return counts


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of ``text`` in the encoding ``o200k_base``.

    The estimate is within 10 % for most texts of a few hundred characters in English, German and
    Japanese, and for code; ``docs/context.md`` has figures. It is not a tokenizer: if the limit is
    strict, pass the token counter of the model that will read the text.
    """
    own, long_english, long, letters, english, symbols = _counted(text)
    is_english = english >= _ENGLISH_SHARE * letters
    is_code = symbols >= _SYMBOL_SHARE * len(text)
    return _rounded_up(own + (long_english if is_english or is_code else long))


def least_tokens(text: str, most: int) -> tuple[int, bool]:
    """Return the estimate for a text and True, or a lower number above ``most`` and False.

    To find such a number, only the beginning of a long text is read.

    >>> least_tokens("one two three", 100)
    (3, True)
    >>> least, is_exact = least_tokens("one two three " * 100, 10)
    >>> 10 < least < 100, is_exact
    (True, False)
    """
    end = _ENOUGH * max(most, 1)
    while end < len(text):
        # Long words cost least in English, and the last mark costs nothing if a letter follows.
        own, long_english, *_ = _counted(text[:end])
        least = _rounded_up(own + long_english - _LAST_MARK)
        if least > most:
            return least, False
        end *= 2
    return estimate_tokens(text), True


def _rounded_up(hundredths: int) -> int:
    return -(-hundredths // 100)


def _counted(text: str) -> list[int]:
    """Return the counts of a text, with the cost of its white space."""
    packed = sum(map(_LINES.__getitem__, _pieces(text)))
    counts = [packed >> _BITS * field & _MASK for field in range(_FIELDS)]
    if "\n" in text:
        counts[0] += _BREAKS * len(_BREAK.findall(text))
    return counts


def _pieces(text: str) -> Iterator[str]:
    """Cut a text where counts add up: at the ends of its lines, and after the label of each line.

    A context has other labels each time it is arranged, and the same texts after them.
    """
    for line in text.split("\n"):
        label, _, rest = line.partition("] ")
        if not rest or rest[0].isspace():
            yield line
        else:
            yield f"{label}]"
            yield f" {rest}" if rest[0].isdecimal() else rest  # a space before a digit costs more


def _counts_of_line(line: str) -> int:
    """Count a line, or a part of one."""
    words = line.split()
    packed = sum(map(_WORDS.__getitem__, words))
    packed += _BEFORE_DIGIT * len(_SPACE_BEFORE_DIGIT.findall(line))
    if len(line) - sum(map(len, words)) >= len(words):  # not one character between any two words
        packed += _SEVERAL_SPACES * len(_SPACES.findall(line))
    return packed


def _counts_of(word: str) -> int:
    """Count a word, which contains no white space."""
    own = 0
    for pattern, piece, character in _PIECES:
        found = pattern.findall(word)
        own += piece * len(found) + character * sum(map(len, found))
    letters = _LETTERS.findall(word)
    long_english, long = (
        each * sum(max(len(one) - short, 0) for one in letters)
        for short, each in (_LONG_ENGLISH, _LONG)
    )
    english = sum(one.lower() in _ENGLISH for one in letters)
    fields = (own, long_english, long, len(letters), english, len(_SYMBOL.findall(word)))
    return sum(count << _BITS * field for field, count in enumerate(fields))


_WORDS = _Kept(_counts_of, _MOST_WORDS, _MOST_LETTERS)
_LINES = _Kept(_counts_of_line, _MOST_LINES, _MOST_CHARS)
