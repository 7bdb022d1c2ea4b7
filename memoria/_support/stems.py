"""Stems of words, by which forms of one word are the same; and the words of a text that count.

In: a word in lower case and a language, or a text. Out: stems, words. Touches nothing.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import lru_cache

_WORD = re.compile(r"\w+")
#: Words that say nothing by themselves.
STOP_WORDS = frozenset(
    """
    a also am an and any are as at be been being but by can could did do does for from had has
    have he her hers him his how i if in into is it its may me might mine must my no nor not of
    on or our ours s shall she should so t than that the their theirs them then there these they
    this those to us was we were what when where which who whom whose why will with would you
    your yours
    """.split()  # noqa: SIM905  # words, not a table
)
_local = threading.local()


@lru_cache(maxsize=100_000)
def stem(word: str, language: str = "english") -> str:
    """Return the stem of a word in lower case.

    Parameters
    ----------
    language
        Name of one of Snowball's languages.

    Examples
    --------
    >>> stem("paintings"), stem("häusern", "german")
    ('paint', 'haus')
    """
    # A stemmer keeps the current word as state, and recalls rank in several threads: each thread
    # needs its own.
    stemmers = _local.__dict__
    if language not in stemmers:
        import snowballstemmer  # not above: it brings the stemmers of all languages

        stemmers[language] = snowballstemmer.stemmer(language)
    return str(stemmers[language].stemWord(word))


def content_words(text: str) -> list[str]:
    """Words of a text in lower case, in order, without stop words.

    >>> content_words("Where did the ferry stop?")
    ['ferry', 'stop']
    """
    return list(each_content_word(text))


def each_content_word(text: str) -> Iterator[str]:
    """Yield the words of `content_words` one by one."""
    for found in _WORD.finditer(text.lower()):
        if (word := found[0]) not in STOP_WORDS:
            yield word


def query_terms(query: str) -> list[str]:
    """Return the stems of a query's content words, each once, in order."""
    return list(dict.fromkeys(map(stem, content_words(query))))
