"""Turn memories and relations into the parameters of queries.

In: checked values. Out: rows of parameters, and batches of a bounded size.
Touches nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from memoria._support.checks import check_string
from memoria._support.stems import search_words
from memoria._support.wording import kind_of
from memoria.errors import InvalidInputError
from memoria.graph.connectors import is_connector
from memoria.types import CoActivation, Memory, Relation, Suppression, metadata_pairs
from memoria.types.history import in_utc

MAX_BATCH_BYTES = 8_000_000

T = TypeVar("T")


def _as_dict(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{kind_of(value)} can't be written as JSON")


_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, default=_as_dict)


def memory_row(
    memory: Memory, embedding: Iterable[float] | None, *, undated: bool = False
) -> dict[str, Any]:
    """Return the row of a memory, without ``when`` and ``metadata`` if they are empty.

    A connector has a name instead of a text, and no embedding, so no search finds it. An
    ``undated`` memory does not get the time of writing instead of its own.
    """
    connects = is_connector(memory)
    return {
        "id": memory.id,
        "kind": memory.kind,
        "properties": {
            "text": None if connects else memory.text,
            "connector_name": memory.text if connects else None,
            "search_words": None if connects else " ".join(search_words(memory.text)) or None,
            "tags": memory.tags,
            "topics": memory.topics,
            "entities": memory.entities,
            "category": memory.category,
            "priority": memory.priority,
            "when": json_text(memory.when, "when"),
            "metadata": json_text(memory.metadata, "metadata"),
            "metadata_pairs": list(metadata_pairs(memory.metadata)) or None,
            "valid_until": utc(memory.valid_until, "valid_until"),
        },
        "created_at": memory.created_at and time_text(memory.created_at),
        "undated": undated,
        "history": None if memory.learned is None else memory.learned.stored(),
        "embedding": None if connects or embedding is None else list(embedding),
    }


def relation_row(relation: Relation) -> dict[str, Any]:
    """Return the row of an edge."""
    return {
        "source": relation.source,
        "target": relation.target,
        "relation": relation.relation,
        "weight": relation.weight,
        "tags": relation.tags,
        "created_at": relation.created_at and time_text(relation.created_at),
        "history": None if relation.learned is None else relation.learned.stored(),
    }


def suppression_row(suppression: Suppression) -> dict[str, Any]:
    """Return the row of a suppression."""
    return {
        "source": suppression.source,
        "target": suppression.target,
        "kind": suppression.suppresses,
        "symmetric": suppression.suppresses == "conflicts",
        "created_at": utc(suppression.created_at),
    }


def pair_row(pair: CoActivation) -> dict[str, Any]:
    """Return the row of a pair that was active together."""
    return {"source": pair.source, "target": pair.target, "times": list(pair.co_activated)}


def json_text(value: Mapping[str, Any], field: str) -> str | None:
    """Return a map as JSON with sorted keys; None when it is empty."""
    if not value:
        return None
    try:
        text = _JSON.encode(value)
    except (
        TypeError,
        ValueError,
    ) as exc:  # ValueError: a number with more digits than Python converts
        raise InvalidInputError(f"{field} can't be written as JSON: {exc}", field=field) from exc
    return check_string(text, field)


def utc(value: datetime | None, field: str = "created_at") -> datetime | None:
    """Return the same instant in UTC; the error names the field."""
    return None if value is None else in_utc(value, field)


def time_text(value: datetime, field: str = "created_at") -> str:
    """Return an instant as text in UTC, ISO 8601; the error names the field.

    The driver takes ten times as long to pack a datetime, and the server reads the text fast.
    """
    return in_utc(value, field).isoformat().replace("+00:00", "Z")


def batches(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut values into batches of at most ``size``; batches of large values are smaller."""
    batch: list[T] = []
    held = 0
    for value in values:
        cost = size_of(value)
        if batch and (len(batch) >= size or held + cost > MAX_BATCH_BYTES):
            yield batch
            batch, held = [], 0
        batch.append(value)
        held += cost
    if batch:
        yield batch


def size_of(value: object) -> int:
    """Return roughly how many bytes are sent for a value."""
    if not isinstance(value, Memory):
        return 200
    vector = value.embedding
    return len(value.text) + (9 * len(vector) if isinstance(vector, Sequence) else 0)
