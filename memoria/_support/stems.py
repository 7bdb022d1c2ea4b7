"""Stems of words, by which forms of one word are the same.

In: a word in lower case, a language. Out: its stem. Touches nothing.
"""

from __future__ import annotations

import threading
from functools import lru_cache

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
