"""Count the tokens of a text.

In: a text. Out: a whole number. Touches nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

CountTokens = Callable[[str], int]

# Kinds of pieces of a text, with their average cost in tokens of the encoding ``o200k_base``: the
# cost of a piece, and of each of its characters.
_WORD = re.compile("[A-Z\u00c0-\u00de]?[a-z\u00df-\u024f]+|[A-Z\u00c0-\u00de]+")
_COSTS = (
    (re.compile(r"\d{1,3}"), 1.2, 0.0),
    (re.compile(r" (?=\d)"), 0.4, 0.0),
    (re.compile("[\u3040-\u309f]+"), 0.0, 0.6),  # hiragana
    (re.compile("[\u30a0-\u30ff]+"), 0.6, 0.6),  # katakana
    (re.compile("[\u3400-\u9fff]"), 1.05, 0.0),
    # Letters of other scripts.
    (re.compile("[^\\W\\d_A-Za-z\u00c0-\u024f\u3040-\u30ff\u3400-\u9fff]"), 2.5, 0.0),
    # A mark right before a letter shares a token with the word.
    (re.compile(r"(?:[^\w\s]|_)+(?![^\W\d_])"), 1.0, 0.1),
    # A line break after a mark shares a token with it.
    (re.compile(r"(?<![^\w\s])\n+"), 1.8, 0.0),
    (re.compile(r"[^\S\n]{2,}"), 1.0, 0.0),
)
# Long words cost more, but less in English and in code than in other languages: the number of free
# characters, and the cost of each further one.
_LONG_ENGLISH = (8, 0.07)
_LONG = (5, 0.19)
_ENGLISH = frozenset(
    """
    a and are as at be can for from have i in is it my not of on or our that the this to was we with
    you your
    """.split()  # noqa: SIM905  # words, not a table
)
_ENGLISH_SHARE = 0.05  # least share of all words
_SYMBOL = re.compile(r"[_(){}=;\[\]<>/\\]")
_SYMBOL_SHARE = 0.04  # least share of all characters in code
# Characters that have more than one token in most texts; and a bit more than the cost of one mark.
_ENOUGH, _LAST_MARK = 6, 1.2


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of ``text`` in the encoding ``o200k_base``.

    The estimate is within 10 % for most texts of a few hundred characters in English, German and
    Japanese, and for code; ``docs/context.md`` has figures. It is not a tokenizer: if the limit is
    strict, pass the token counter of the model that will read the text.
    """
    words = _WORD.findall(text)
    english = sum(word.lower() in _ENGLISH for word in words) >= _ENGLISH_SHARE * len(words)
    code = len(_SYMBOL.findall(text)) >= _SYMBOL_SHARE * len(text)
    return math.ceil(_cost(text, words, _LONG_ENGLISH if english or code else _LONG))


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
        start = text[:end]
        # Long words cost least in English, and the last mark costs nothing if a letter follows.
        least = math.ceil(_cost(start, _WORD.findall(start), _LONG_ENGLISH) - _LAST_MARK)
        if least > most:
            return least, False
        end *= 2
    return estimate_tokens(text), True


def _cost(text: str, words: list[str], long: tuple[int, float]) -> float:
    short, each = long
    cost = len(words) + each * sum(len(word) - short for word in words if len(word) > short)
    for pattern, piece, character in _COSTS:
        found = pattern.findall(text)
        cost += piece * len(found) + character * sum(map(len, found))
    return cost
