"""Find the name that a mistyped one stands for.

In: a name, the names that there are. Out: the nearest, in words. Touches nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_ALIKE = 0.6  # share of letters, as difflib counts them
_SHOWN = 3


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return at most three names that are like another one, the most alike first.

    >>> nearest("evnt", ["Event", "Insight"]), nearest("tool", ["Event"])
    (('Event',), ())
    """
    spellings: dict[str, list[str]] = {}
    for each in known:
        spellings.setdefault(each.casefold(), []).append(each)
    near = difflib.get_close_matches(name.casefold(), spellings, n=_SHOWN, cutoff=_ALIKE)
    return tuple(each for folded in near for each in spellings[folded])[:_SHOWN]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the names that are like another one as a clause; empty if none is.

    >>> did_you_mean("alcie", ["alice", "bob"]), did_you_mean("x", ["alice"])
    ("; did you mean 'alice'?", '')
    """
    near = " or ".join(map(repr, nearest(name, known)))
    return f"; did you mean {near}?" if near else ""
