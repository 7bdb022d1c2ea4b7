"""Items of a key-value store as memories: their ids, and what a search asks of their values.

In: namespaces, keys, filters. Out: ids and the range in which they lie; judgements. Touches
nothing.

The item ``key`` of the namespace ``("users", "ann")`` is the memory ``@item/users/ann/:key``. No
other memory has such an id, and all items below a namespace lie next to each other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memoria.errors import InvalidInputError
from memoria.integrations._scopes import joined, parted

_ROOT = "@item"
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def item_id(namespace: Sequence[str], key: str) -> str:
    """Return the id of an item.

    >>> item_id(("users", "a/b"), "likes")
    '@item/users/a%2Fb/:likes'
    """
    return joined([_ROOT, *namespace, f":{key}"])


def place_of(id_: str) -> tuple[tuple[str, ...], str]:
    """Return namespace and key of an item.

    >>> place_of("@item/users/a%2Fb/:likes")
    (('users', 'a/b'), 'likes')
    """
    _, *namespace, key = parted(id_)
    return tuple(namespace), key[1:]


def namespace_of(beginning: str) -> tuple[str, ...]:
    """Return the namespace of an id without its key."""
    return parted(beginning)[1:]


def bounds(prefix: Sequence[str]) -> dict[str, str]:
    """Return two texts between which the ids of all items below a namespace lie, and no others.

    >>> bounds(("users",))  # the character after / is 0
    {'after': '@item/users/', 'before': '@item/users0'}
    """
    beginning = joined([_ROOT, *prefix])
    return {"after": f"{beginning}/", "before": f"{beginning}0"}


def levels(namespace: Sequence[str]) -> dict[str, str]:
    """Return the metadata by which a recall finds the items below a namespace.

    >>> levels(("users", "ann"))
    {'namespace_1': 'users', 'namespace_2': 'users/ann'}
    """
    return {
        f"namespace_{depth}": joined(namespace[:depth]) for depth in range(1, len(namespace) + 1)
    }


def fits(value: Mapping[str, Any], conditions: Mapping[str, Any] | None) -> bool:
    """Tell whether the value of an item has what a search asks for.

    >>> fits({"n": 3, "of": {"a": 1, "b": 2}}, {"n": {"$gt": 2, "$ne": 4}, "of": {"a": 1}})
    True
    """
    return all(_fits(value.get(key), wanted) for key, wanted in (conditions or {}).items())


def _fits(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_compares(value, name, other) for name, other in wanted.items())
        return isinstance(value, Mapping) and fits(value, wanted)
    if isinstance(wanted, list | tuple):
        same = isinstance(value, list | tuple) and len(value) == len(wanted)
        return same and all(map(_fits, value, wanted))
    return bool(value == wanted)


def _compares(value: Any, name: str, other: Any) -> bool:
    if name in ("$eq", "$ne"):
        return (value == other) is (name == "$eq")
    if name not in _COMPARISONS:
        known = ", ".join(("$eq", "$ne", *_COMPARISONS))
        raise InvalidInputError(
            f"a filter can't compare by {name!r:.40}: use {known}", field="filter"
        )
    try:
        return _COMPARISONS[name](float(value), float(other))
    except (TypeError, ValueError):  # what is not a number is neither above nor below one
        return False
