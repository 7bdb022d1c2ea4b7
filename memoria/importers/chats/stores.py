"""Read what other memories of agents have stored: those of Mem0, Letta and LangGraph.

In: exports of these programs, or their local databases. Out: memories, documents, conversations.
Reads files. No language model is asked: a sentence stays the sentence that it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import groupby, islice
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any

from memoria.errors import InvalidInputError
from memoria.importers.chats.archive import open_export
from memoria.importers.chats.databases import is_sqlite, sqlite_rows
from memoria.importers.chats.parsing import (
    Aside,
    OnInvalid,
    OnLeftOut,
    Parser,
    as_list,
    digest,
    id_in,
    items_of,
    map_in,
    parsed,
    string_in,
    texts_of,
    time_in,
    whole,
)
from memoria.remember.ids import topic_id
from memoria.types import Item, Memory, Relation

FILES = r"(?:.*/)?[^/]+\.(?:jsonl?|af)"
KIND, TOPIC = "Event", "Topic"
RELATION_WEIGHT = 0.8
_HISTORY = (
    *("memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at"),
    "is_deleted",
)
_STORE = ("prefix", "key", "value", "created_at", "updated_at")
#: Texts of one memory that are kept until its last one is known.
_MAX_REVISIONS = 10_000
#: Fields of a value in which its text may stand.
_TEXTS = ("content", "text", "memory", "data", "value")


def read_mem0(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Item]:
    """Read the memories of Mem0.

    Parameters
    ----------
    path
        What ``get_all()`` or an export returns, or points of the vector store with their payloads,
        as JSON or JSON Lines; or the local ``history.db``, whose earlier texts of a memory become
        memories that are no longer valid.
    on_invalid
        Called with the error about each memory that is wrong, which is then passed over; None
        raises the first.
    on_left_out
        Called with the reason for each memory that is left out: ``empty`` or ``deleted``.

    Raises
    ------
    InvalidInputError
        The path can't be read, or a memory is wrong and ``on_invalid`` is None.
    """
    aside = Aside(on_invalid, on_left_out)
    if is_sqlite(Path(path)):
        return _mem0_history(Path(path), aside)
    return read_objects(path, ("results", "memories", "relations"), _mem0, aside)


def read_langgraph(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Item]:
    """Read the items of a store of LangGraph, such as those of LangMem.

    Parameters
    ----------
    path
        Items as ``item.dict()`` gives them, as JSON or JSON Lines; or the database of a
        ``SqliteStore``.
    on_invalid, on_left_out
        As in `read_mem0`.

    Raises
    ------
    InvalidInputError
        The path can't be read, or an item is wrong and ``on_invalid`` is None.
    """
    aside = Aside(on_invalid, on_left_out)
    if is_sqlite(Path(path)):
        rows = sqlite_rows(Path(path), "store", _STORE, "prefix, key")
        placed = ((f"{path}: item", row) for row in rows)
        return parsed(placed, "an element", _langgraph, aside)
    return read_objects(path, ("items", "results"), _langgraph, aside)


def read_objects(
    path: str | PathLike[str], lists: tuple[str, ...], parse: Parser, aside: Aside
) -> Iterator[Item]:
    """Read the objects of files: those of a list, on lines, or of the lists in an object.

    Parameters
    ----------
    lists
        Fields of an object that hold a list of the objects.
    """
    with open_export(path) as export:
        what = "file with the ending .json or .jsonl"
        for name in export.needed(FILES, what, anywhere=True):
            items = items_of(export, name, "element")
            yield from parsed(_unfolded(items, lists), "an element", parse, aside)


def _unfolded(
    items: Iterator[tuple[str, Any]], lists: tuple[str, ...]
) -> Iterator[tuple[str, Any]]:
    for place, item in items:
        found = [key for key in lists if isinstance(item, dict) and isinstance(item.get(key), list)]
        if isinstance(item, list):
            yield from ((place, each) for each in item)
        elif found:
            for key in found:
                yield from ((f"{place}: {key} {n}", each) for n, each in enumerate(item[key], 1))
        else:
            yield place, item


def memory_of(source: str, id_: str, text: str, **fields: Any) -> Memory:
    """Return a memory of another program, with an id that is the same for each import."""
    name = id_ if len(id_.encode()) <= 200 else digest(id_)
    return Memory(id=f"{source}:{name}", kind=KIND, text=text.strip(), **fields)


def _mem0(fields: Mapping[str, Any], aside: Aside) -> Iterator[Item]:
    """Yield a memory, or a relation between two names."""
    if "relationship" in fields or "relation" in fields:
        yield from _mem0_relation(fields)
        return
    if isinstance(payload := fields.get("payload"), dict):  # a point of a vector store
        fields = {**payload, "id": fields.get("id")}
    names = ("memory", "data", "text", "content")
    text = next(filter(None, (string_in(fields, name) for name in names)), "").strip()
    if not text:
        aside.left_out("empty")
        return
    categories = _names(fields.get("categories"), "categories")
    who = ("user_id", "agent_id", "run_id", "app_id", "actor_id", "role")
    yield memory_of(
        "mem0",
        id_in(fields, "id") or digest(text),
        text,
        tags=categories,
        category=categories[0] if categories else None,
        created_at=time_in(fields, "created_at") or time_in(fields, "updated_at"),
        valid_until=time_in(fields, "expiration_date"),
        metadata={**map_in(fields, "metadata"), **{k: fields[k] for k in who if fields.get(k)}},
    )


def _names(value: object, field: str) -> list[str]:
    """Return names: a list of them, or a text with commas between."""
    found = value.split(",") if isinstance(value, str) else as_list(value, field)
    return [name for each in found if (name := whole(str(each)).strip())]


def _mem0_relation(fields: Mapping[str, Any]) -> Iterator[Item]:
    relation = string_in(fields, "relationship") or string_in(fields, "relation") or ""
    target = string_in(fields, "target") or string_in(fields, "destination") or ""
    source = string_in(fields, "source") or ""
    ends = [topic_id(each) for each in (source, target) if each]
    if len(set(ends)) == 2 and relation:
        yield from (Memory(id=topic_id(each), kind=TOPIC, text=each) for each in (source, target))
        yield Relation(source=ends[0], target=ends[1], relation=relation, weight=RELATION_WEIGHT)


def _mem0_history(path: Path, aside: Aside) -> Iterator[Item]:
    """Yield the last text of each memory, and those before, which are no longer valid."""
    order = "memory_id, coalesce(updated_at, created_at), rowid"
    rows = sqlite_rows(path, "history", _HISTORY, order)
    for _, revisions in groupby(rows, key=itemgetter("memory_id")):
        yield from _revisions(path, list(islice(revisions, _MAX_REVISIONS + 1)), aside)


def _revisions(path: Path, rows: list[Mapping[str, Any]], aside: Aside) -> Iterator[Item]:
    made: list[Item] = []
    with aside.at(f"{path}: memory {rows[0]['memory_id']}"):
        if len(rows) > _MAX_REVISIONS:
            raise InvalidInputError(f"it has more than {_MAX_REVISIONS:,} earlier texts")
        if rows[-1]["event"] == "DELETE" or rows[-1]["is_deleted"]:
            aside.left_out("deleted")
            return
        texts = [row for row in rows if string_in(row, "new_memory")]
        if texts and texts[0]["event"] == "UPDATE" and string_in(texts[0], "old_memory"):
            first = {**texts[0], "new_memory": texts[0]["old_memory"], "updated_at": None}
            texts = [first, *texts]
        for number, row in enumerate(texts, start=1):
            later = texts[number] if number < len(texts) else None
            made.append(
                memory_of(
                    "mem0",
                    f"{rows[0]['memory_id']}" + (f"@{number}" if later is not None else ""),
                    row["new_memory"],
                    created_at=_stamp(row),
                    valid_until=None if later is None else _stamp(later),
                )
            )
    yield from made


def _stamp(row: Mapping[str, Any]) -> Any:
    return time_in(row, "updated_at") or time_in(row, "created_at")


def _langgraph(fields: Mapping[str, Any], aside: Aside) -> Iterator[Item]:
    prefix = fields.get("namespace", fields.get("prefix"))
    parts = prefix.split(".") if isinstance(prefix, str) else as_list(prefix, "namespace")
    namespace = [whole(str(part)) for part in parts]
    value = fields.get("value")
    if isinstance(value, str | bytes) and "prefix" in fields:  # a row of a database
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as exc:
            raise InvalidInputError("value is not JSON", field="value") from exc
    said, others = _text_of(value)
    text = whole(said).strip()
    if not text:
        aside.left_out("empty")
        return
    key = id_in(fields, "key") or digest(text)
    kind = others.pop("kind", None) or (value.get("kind") if isinstance(value, dict) else None)
    yield memory_of(
        "langgraph",
        "/".join((*namespace, key)),
        text,
        category=kind if isinstance(kind, str) else None,
        created_at=time_in(fields, "updated_at") or time_in(fields, "created_at"),
        metadata={"namespace": namespace, "key": key, **({"value": others} if others else {})},
    )


def _text_of(value: object) -> tuple[str, dict[str, Any]]:
    """Return the text of a value, and its other fields.

    The text is in one of the fields of a value, or it is all of them, one on each line.
    """
    if not isinstance(value, dict):
        values = value if isinstance(value, list) else [value]
        return "\n".join(_written(each) for each in values if each is not None), {}
    for name in _TEXTS:
        inner, others = value.get(name), {key: value[key] for key in value if key != name}
        if isinstance(inner, str) and inner.strip():
            return inner, others
        if isinstance(inner, list) and (text := texts_of(inner)):
            return text, others
        if isinstance(inner, dict) and inner:
            text, more = _text_of(inner)
            return text, others | more
    pairs = ((name, each) for name, each in value.items() if each not in (None, "", [], {}))
    return "\n".join(f"{name}: {_written(each)}" for name, each in pairs), {}


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
