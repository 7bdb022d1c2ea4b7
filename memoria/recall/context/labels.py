"""Give memories short labels within one text.

In: ids in text order, and all ids a reader may know. Out: id -> label. Touches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def prefix_for(prefix: str, ids: Iterable[str]) -> str:
    """Return a prefix for the numbers of labels, such that no label looks like an id.

    >>> prefix_for("", ["evt-1", "evt-2"]), prefix_for("", ["1", "2"]), prefix_for("a", ["a7"])
    ('', 'm', 'am')
    """
    known = set(ids)
    letters = prefix
    while any(re.fullmatch(rf"{re.escape(letters)}\d+", id_, re.ASCII) for id_ in known):
        letters += "m"
    return letters


def labels_of(ids: Sequence[str], prefix: str) -> dict[str, str]:
    """Return id -> label, numbered from 1 in the order of the ids."""
    return {id_: f"{prefix}{number}" for number, id_ in enumerate(ids, start=1)}
