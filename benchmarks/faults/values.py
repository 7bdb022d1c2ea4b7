"""Values of any kind in every field of memoria's own types and settings.

In: nothing. Out: a row of the table. Touches nothing.
"""

from __future__ import annotations

import dataclasses
import datetime
import inspect
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np

import memoria
from benchmarks.faults.strings import OTHER_KINDS, hostile
from benchmarks.faults.table import Family, Row, Setting
from memoria.errors import MemoriaError

_DEEP = 3_000
_STRINGS_SHARE = 0.3
# What has no defaults; every other class of the public names is made without arguments.
_NEEDED: Mapping[str, Mapping[str, Any]] = {
    "Memory": {"id": "a", "kind": "Event", "text": "t"},
    "Relation": {"source": "a", "target": "b", "relation": "r"},
    "Seed": {"id": "a", "score": 1.0},
    "Message": {"text": "t"},
    "Conversation": {"id": "c", "messages": [memoria.Message(text="t")]},
    "Document": {"id": "d", "text": "x"},
}

Slot = tuple[type, Mapping[str, Any], str]


def slots() -> list[Slot]:
    """Return every class that a caller makes, what it needs, and one of its fields."""
    found: list[Slot] = []
    for name in sorted(memoria.__all__):
        kind = getattr(memoria, name)
        if not (inspect.isclass(kind) and dataclasses.is_dataclass(kind)):
            continue
        fields = [each for each in dataclasses.fields(kind) if each.init]
        needed = _NEEDED.get(name, {})
        if name in _NEEDED or not any(_is_needed(each) for each in fields):
            found += [(kind, needed, each.name) for each in fields]
    return found


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def odd_values() -> Sequence[Any]:
    """Return values that checks forget: deep, recursive, huge, or not to be compared."""
    deep: list[Any] = []
    deep_map: dict[str, Any] = {}
    for _ in range(_DEEP):
        deep, deep_map = [deep], {"a": deep_map}
    recursive: list[Any] = []
    recursive.append(recursive)
    return (
        *OTHER_KINDS,
        *(deep, deep_map, recursive, [["a"]], [None], ["a", 1], {"a": object()}, {1: 2}),
        *({"a": float("nan")}, {"a": deep_map}, [float("nan")], 10**400, 1e308, {"a"}, range(3)),
        *(np.zeros(3), np.array([[1]]), np.float32(1), [np.zeros(2)], datetime.date(2026, 1, 1)),
        *(datetime.datetime.max, datetime.datetime.min, iter([1]), "x" * 2_000_000),
    )


@asynccontextmanager
async def opened(_: Setting) -> AsyncIterator[tuple[list[Slot], Sequence[Any]]]:
    """List the slots and the values."""
    yield slots(), odd_values()


async def _made(
    opened: tuple[list[Slot], Sequence[Any]], rng: random.Random, number: int
) -> str | None:
    """Put one value into one field."""
    all_slots, values = opened
    kind, needed, name = all_slots[number % len(all_slots)]
    odd = rng.random() > _STRINGS_SHARE
    value = values[rng.randrange(len(values))] if odd else hostile(rng)
    try:
        kind(**{**needed, name: value})
    except MemoriaError:
        return None
    except Exception as exc:  # noqa: BLE001 - an error that is not memoria's is a failure
        return f"{kind.__name__}({name}={type(value).__name__}): untyped {type(exc).__name__}"
    return None


FAMILY = Family(
    name="values",
    opened=opened,
    rows=(
        Row(
            key="values",
            fault=f"values of any kind in {len(slots())} fields of public types and settings",
            expected="the object, or a typed error",
            quick=4_000,
            full=100_000,
            attempt=_made,
        ),
    ),
)
