"""Read the file of the official memory server: ``memory.jsonl``.

In: a file of entities with observations, and relations. Out: memories, then relations: what a
`GraphWriter` writes. Reads files, one line at a time.

An entity is a connector: it carries energy, and is neither found, ranked nor packed. Each of its
observations is a memory, joined to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

from memoria.errors import InvalidInputError
from memoria.importers.chats.parsing import (
    Aside,
    OnInvalid,
    OnLeftOut,
    as_list,
    digest,
    objects_in,
    string_in,
    whole,
)
from memoria.importers.chats.stores import KIND, RELATION_WEIGHT, TOPIC
from memoria.ingest.jsonl import raw_lines
from memoria.remember.ids import topic_id
from memoria.types import Memory, Relation

#: Weight of the edge from an observation to what it is about, as `remember(about=)` has it.
ABOUT, ABOUT_WEIGHT = "about", 0.7
SOURCE = "memory-server"


def read_memory_server(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Memory | Relation]:
    """Read the file of the official memory server (``memory.jsonl``): memories, then relations.

    An observation that does not name its entity gets the name in front, so that a search for the
    name finds it.

    Parameters
    ----------
    path
        A file, plain or gzip; ``-`` is standard input.
    on_invalid
        Called with the error about each line that is wrong, which is then passed over; None raises
        the first.
    on_left_out
        Called with the reason for each line or observation that is left out: ``empty``,
        ``repeated`` (in one entity), ``unknown type``, ``relation to itself`` or ``relation without
        its entity``.

    Raises
    ------
    InvalidInputError
        The file can't be read, or a line is wrong and ``on_invalid`` is None; the message names
        file, line and field.
    """
    aside = Aside(on_invalid, on_left_out)
    entities: set[str] = set()
    relations: list[tuple[str, str, str]] = []
    for file, number, raw in raw_lines(path):
        made: list[Memory | Relation] = []
        if raw.strip():
            with aside.at(f"{file}:{number}"):
                for fields in objects_in(raw):
                    if fields.get("type") == "entity":
                        made += list(_entity(fields, aside))  # all of it, or nothing
                        entities.add(_needed(fields, "name"))
                    elif fields.get("type") == "relation":
                        names = ("from", "to", "relationType")
                        source, target, relation = (_needed(fields, name) for name in names)
                        relations.append((source, target, relation))
                    else:
                        aside.left_out("unknown type")
        yield from made
    for source, target, relation in relations:
        if source == target:
            aside.left_out("relation to itself")
        elif source not in entities or target not in entities:
            aside.left_out("relation without its entity")
        else:
            yield Relation(
                source=topic_id(source),
                target=topic_id(target),
                relation=relation,
                weight=RELATION_WEIGHT,
            )


def _entity(fields: Mapping[str, Any], aside: Aside) -> Iterator[Memory | Relation]:
    """Yield the connector of an entity, and a memory with an edge for each observation."""
    name = _needed(fields, "name")
    type_ = string_in(fields, "entityType")
    topic = Memory(id=topic_id(name), kind=TOPIC, text=name, category=type_)
    yield topic
    before: set[str] = set()
    for said in as_list(fields.get("observations"), "observations"):
        if not isinstance(said, str | None):
            raise InvalidInputError("observations must contain strings", field="observations")
        text = whole(said or "").strip()
        if not text or text in before:
            aside.left_out("repeated" if text else "empty")
            continue
        before.add(text)
        memory = Memory(
            id=f"{SOURCE}:{digest(name, text)}",
            kind=KIND,
            text=text if name.casefold() in text.casefold() else f"{name}: {text}",
            entities=[name],
            category=type_,
        )
        yield memory
        yield Relation(source=memory.id, target=topic.id, relation=ABOUT, weight=ABOUT_WEIGHT)


def _needed(fields: Mapping[str, Any], name: str) -> str:
    value = string_in(fields, name)
    if value is None:
        raise InvalidInputError(f"{name} is missing", field=name)
    return value
