"""Give memories short names for one text.

In: the ids in their order, all ids that may be known. Out: id -> name. Touches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def prefix_for(prefix: str, ids: Iterable[str]) -> str:
    """Return letters that stand before the numbers of labels, so that none looks like an id.

    >>> prefix_for("", ["evt-1", "evt-2"]), prefix_for("", ["1", "2"]), prefix_for("a", ["a7"])
    ('', 'm', 'am')
    """
    known = set(ids)
    letters = prefix
    while any(re.fullmatch(rf"{re.escape(letters)}\d+", id_, re.ASCII) for id_ in known):
        letters += "m"
    return letters


def labels_of(ids: Sequence[str], prefix: str) -> dict[str, str]:
    """Return id -> label, counted from 1 in the order of the ids."""
    return {id_: f"{prefix}{number}" for number, id_ in enumerate(ids, start=1)}
