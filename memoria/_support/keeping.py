"""Keep what a function returned for short texts.

In: a function of one text. Out: the same function, which computes less. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")


def kept(most: int, max_chars: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Keep the results for the last ``most`` texts of up to ``max_chars`` characters.

    Recalls of one scope often find the same texts. The results must not be changed.

    >>> @kept(2, max_chars=3)
    ... def upper(text: str) -> str:
    ...     print("computed")
    ...     return text.upper()
    >>> upper("a"), upper("a"), upper("long")
    computed
    computed
    ('A', 'A', 'LONG')
    """

    def decorate(function: Callable[[str], T]) -> Callable[[str], T]:
        short = lru_cache(maxsize=most)(function)

        @wraps(function)
        def call(text: str) -> T:
            return short(text) if len(text) <= max_chars else function(text)

        return call

    return decorate
