"""Turn rows of the graph into lines that ingest reads, and report what the lines can't hold.

In: rows of ``export.memories`` and ``export.edges``. Out: checked memories and edges, their
lines, and a `Skipped` for everything that was left out. Touches nothing.

Equal content gives equal lines: fields in a fixed order, without empty fields; times in UTC; tags
and the keys of maps sorted; text as UTF-8, not as escapes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from memoria._support.checks import check_string
from memoria._support.wording import printable_json
from memoria.errors import InvalidInputError
from memoria.graph.vocabulary import CONNECTOR_KINDS, MEMORY_LABEL, RELATED
from memoria.ingest.jsonl import (
    CO_ACTIVATION_FIELDS,
    EDGE_FIELDS,
    MEMORY_FIELDS,
    SUPPRESSION_FIELDS,
    TIME_FIELDS,
)
from memoria.types import (
    CoActivation,
    EdgeHistory,
    HistoryItem,
    Memory,
    MemoryHistory,
    Relation,
    ScopeClock,
    Suppression,
)

# The weight with which an edge without a weight counts (design, section 3).
MISSING_WEIGHT = 0.01
_NEEDED = ("id", "kind", "text")
H = TypeVar("H", MemoryHistory, EdgeHistory, ScopeClock)

_NO_FIELD = "the lines have no such field"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something that an export left out.

    Attributes
    ----------
    what
        ``memory`` or ``edge``: the whole was left out; ``field``: only a field of it.
    name
        Id of the memory; or source, target and relation of the edge; "" if it has no name.
    field
        The field that is wrong; or the type of a relationship that is not RELATES.
    reason
        Why it was left out; never quotes the text of a memory.
    count
        How often the same was left out.
    """

    what: Literal["memory", "edge", "field"]
    name: str
    field: str
    reason: str
    count: int = 1


Skip = Callable[[Skipped], None]


@dataclass(frozen=True, slots=True)
class Ends:
    """Ids of the exported memories, and of the memories that were left out."""

    exported: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)

    def join(self, source: str, target: str) -> bool:
        """Tell whether both ends of an edge are in the export.

        If not, one end was written during the export, and the edge belongs to a later state of the
        scope.
        """
        if not self.left_out.isdisjoint((source, target)):
            raise InvalidInputError("one of its memories was left out", field="target")
        return source in self.exported and target in self.exported


def memory_line(memory: Memory) -> str:
    """Return the line of a memory; one whose time is not known says so, else ingest gives it one.

    >>> memory_line(Memory(id="a", kind="Event", text="hé", tags=["b", "a"], priority=1))
    '{"id":"a","kind":"Event","text":"hé","tags":["a","b"],"priority":1.0,"created_at":null}'
    """
    timeless = () if memory.kind in CONNECTOR_KINDS else ("created_at",)
    return _line({name: getattr(memory, name) for name in MEMORY_FIELDS}, timeless)


def relation_line(relation: Relation) -> str:
    """Return the line of an edge.

    >>> relation_line(Relation(source="a", target="b", weight=0.1))
    '{"source":"a","target":"b","relation":"related","weight":0.1}'
    """
    return _line({name: getattr(relation, name) for name in EDGE_FIELDS})


def history_line(item: HistoryItem) -> str:
    """Return the line of a suppression, of a pair that was active together, or of a clock.

    >>> history_line(Suppression(source="a", target="b", suppresses="overrides"))
    '{"source":"a","target":"b","suppresses":"overrides"}'
    >>> history_line(ScopeClock(active_hours=1.5))
    '{"clock":{"active_hours":1.5}}'
    """
    if isinstance(item, ScopeClock):
        return _line({"clock": item})
    names = SUPPRESSION_FIELDS if isinstance(item, Suppression) else CO_ACTIVATION_FIELDS
    return _line({name: getattr(item, name) for name in names})


def read_memory(row: Mapping[str, Any], skip: Skip) -> Memory | None:
    """Build a memory from the fields that can be kept; None if it can't be ingested."""
    labels = sorted(label for label in row["labels"] if label != MEMORY_LABEL)
    if not labels:
        skip(_memory_problem(row, "kind", "no label but Memory"))
        return None
    given = {name: row[name] for name in MEMORY_FIELDS if row.get(name) is not None}
    stored = {**row["history"], "linked_at": row["linked_at"]}
    learned = _history(MemoryHistory, stored, row["id"], skip)
    if learned is not None and learned.said():
        given["learned"] = learned
    fields = {**given, "kind": labels[0], "text": row["text"]}
    memory: Memory | None = None
    while memory is None:
        try:
            memory = Memory(**_parsed(fields))
        except InvalidInputError as exc:
            field = exc.field or ""
            if field in _NEEDED or field not in fields:
                skip(_memory_problem(row, field, str(exc)))
                return None
            skip(_field_problem(row["id"], field, str(exc)))
            del fields[field]
    for label in labels[1:]:
        skip(_field_problem(row["id"], "kind", f"has several; the first was kept, not {label}"))
    for name in row["others"]:
        skip(_field_problem(row["id"], name, _NO_FIELD))
    return memory


def read_relation(row: Mapping[str, Any], ends: Ends, skip: Skip) -> Relation | None:
    """Build an edge; None if it can't be ingested or one of its ends was not exported."""
    source, target, weight = row["key"][0], row["target"], row["weight"]
    above = isinstance(weight, int | float) and 1 < weight < math.inf
    try:
        if not row["inside"]:
            raise InvalidInputError("leads out of the scope", field="target")
        if source == target:
            raise InvalidInputError("leads from a memory to itself", field="target")
        relation = Relation(
            source=source,
            target=target,
            relation=RELATED if row["relation"] is None else row["relation"],
            weight=MISSING_WEIGHT if weight is None else 1.0 if above else weight,
            tags=() if row["tags"] is None else row["tags"],
            created_at=_created_at(row, skip),
            learned=_edge_history(row, skip),
        )
        if not ends.join(source, target):
            return None
    except InvalidInputError as exc:
        skip(Skipped(what="edge", name=_name(row), field=exc.field or "", reason=str(exc)))
        return None
    if above:
        skip(_field_problem(_name(row), "weight", "above 1; 1 was written"))
    for name in row["others"]:
        skip(_field_problem(_name(row), name, _NO_FIELD))
    return relation


def read_history(row: Mapping[str, Any], ends: Ends, skip: Skip) -> HistoryItem | None:
    """Build a suppression or a pair; None if it can't be ingested or an end was not exported."""
    source, target, kind = row["key"][0], row["target"], row["key"][2]
    name = f"{source} -> {target} ({kind})"
    try:
        if not row["inside"]:
            raise InvalidInputError("leads out of the scope", field="target")
        if not ends.join(source, target):
            return None
        if kind == "COACTIVATED":
            return CoActivation(source=source, target=target, co_activated=row["times"])
        made = row["created_at"]
        return Suppression(
            source=source,
            target=target,
            suppresses=row["kind"],
            created_at=None if made is None else _time(made, "created_at"),
        )
    except InvalidInputError as exc:
        skip(Skipped(what="edge", name=name, field=exc.field or "", reason=str(exc)))
        return None


def read_clock(row: Mapping[str, Any], scope: str, skip: Skip) -> ScopeClock | None:
    """Build the clock of a scope; None when it says nothing."""
    clock = _history(ScopeClock, row, f"clock of {scope}", skip)
    return clock if clock is not None and clock.said() else None


def stronger(first: Relation, second: Relation, skip: Skip) -> Relation:
    """Return the stronger of two edges that ingest takes for the same edge."""
    name = f"{first.source} -> {first.target} ({first.relation})"
    skip(Skipped(what="edge", name=name, field="relation", reason="twice; the stronger was kept"))
    return max(first, second, key=lambda relation: relation.weight)


def _edge_history(row: Mapping[str, Any], skip: Skip) -> EdgeHistory | None:
    """Read what use and linking left on an edge; None where that is what any ingest leaves."""
    times = {name: row[name] for name in ("last_used_at", "decayed_at")}
    history = _history(EdgeHistory, {**row["history"], **times}, _name(row), skip)
    return None if history is None or history.is_that_of_ingest else history


def _created_at(row: Mapping[str, Any], skip: Skip) -> datetime | None:
    if row["created_at"] is None:
        return None
    try:
        return _time(row["created_at"], "created_at")
    except InvalidInputError as exc:
        skip(_field_problem(_name(row), "created_at", str(exc)))
        return None


def _history(kind: type[H], stored: Mapping[str, Any], name: str, skip: Skip) -> H | None:
    """Build a part of the history from what can be kept of it."""
    fields = {key: value for key, value in stored.items() if value is not None}
    while fields:
        try:
            times = {key: _time(fields[key], key) for key in TIME_FIELDS if key in fields}
            return kind(**{**fields, **times})
        except InvalidInputError as exc:
            skip(_field_problem(name, exc.field or "", str(exc)))
            del fields[exc.field or ""]
    return None


def _memory_problem(row: Mapping[str, Any], field: str, reason: str) -> Skipped:
    return Skipped(what="memory", name=row["id"], field=field, reason=reason)


def _field_problem(name: str, field: str, reason: str) -> Skipped:
    return Skipped(what="field", name=name, field=field, reason=reason)


def _name(row: Mapping[str, Any]) -> str:
    source, target, relation, _ = row["key"]
    return f"{source} -> {target} ({relation})"


def _parsed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a node as a `Memory` takes them: times and maps are stored in another form."""
    parsed = dict(fields)
    for name in ("created_at", "valid_until"):
        if name in fields:
            parsed[name] = _time(fields[name], name)
    for name in ("when", "metadata"):
        if name in fields:
            parsed[name] = _json_map(fields[name], name)
    return parsed


def _time(value: object, field: str) -> datetime:
    """Read a time that the server has put into UTC; nanoseconds are cut to microseconds."""
    try:
        return datetime.fromisoformat(str(value)).astimezone(UTC)
    except (ValueError, OverflowError) as exc:
        raise InvalidInputError(
            f"{field} is not a time, or outside the years 1 to 9999", field=field
        ) from exc


def _json_map(value: object, field: str) -> Any:
    """Read a stored map, and sort its keys; refuse a map that ingest would refuse."""
    if not isinstance(value, str):
        raise InvalidInputError(f"{field} is not a text", field=field)
    try:
        text = json.dumps(json.loads(value), ensure_ascii=False, sort_keys=True)
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError(f"{field} is not JSON", field=field) from exc
    return json.loads(check_string(text, field))


def _line(fields: Mapping[str, Any], needed: tuple[str, ...] = ()) -> str:
    said = {
        name: _plain(value)
        for name, value in fields.items()
        if name in (*_NEEDED, *needed) or not (value is None or value in ((), {}))
    }
    return printable_json(json.dumps(said, ensure_ascii=False, separators=(",", ":")))


def _plain(value: Any) -> Any:
    """Return a value as JSON takes it."""
    if isinstance(value, MemoryHistory | EdgeHistory | ScopeClock):
        return value.said()
    return value.isoformat() if isinstance(value, datetime) else value
