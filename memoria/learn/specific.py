"""Which memories override which: a memory overrides those whose conditions are a strict subset.

In: the conditions of memories. Out: pairs of ids. Touches nothing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any


def is_more_specific(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether ``one`` has all conditions of ``other`` and more, and so holds less often.

    Nothing is more specific than an empty map. Otherwise every memory with conditions would
    override every memory without conditions.

    Notes
    -----
    Source: 003, override edge semantics.

    >>> is_more_specific({"language": "go", "task": "test"}, {"language": "go"})
    True
    >>> is_more_specific({"language": "go"}, {}), is_more_specific({"task": "a"}, {"task": "a"})
    (False, False)
    """
    return bool(other) and _conditions(other) < _conditions(one)


def overrides(conditions: Mapping[str, Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    """Return the pairs (more specific, less specific) among memories, sorted.

    Parameters
    ----------
    conditions
        Memory -> its ``when``.
    """
    sets = {id_: _conditions(when) for id_, when in conditions.items()}
    holders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for id_, items in sets.items():
        for item in items:
            holders[item].add(id_)
    pairs = []
    for id_, items in sets.items():
        if items:  # find the memories that have all of these conditions, and more
            wider = set.intersection(*(holders[item] for item in items))
            pairs += [(other, id_) for other in wider if len(sets[other]) > len(items)]
    return tuple(sorted(pairs))


def _conditions(when: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Return conditions as (name, value); values are JSON texts because lists have no hash."""
    return frozenset((name, json.dumps(value, sort_keys=True)) for name, value in when.items())
