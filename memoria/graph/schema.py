"""Set a database up: constraints, indexes, and a record of the embedder that they serve.

In: a store, and the embedder that makes its vectors. Out: a `SchemaReport`. Writes.
Queries: ``schema*``, ``graph.record``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memoria._support.checks import MAX_DIMENSIONS, check_seconds, check_whole
from memoria._support.wording import value_of
from memoria.embed import checked_embedder
from memoria.errors import ConfigError, QueryError
from memoria.graph.server_facts import (
    NamedEmbedder,
    check_embedder,
    check_vectors_fit,
    is_complete,
    probe_session,
    require_online,
)
from memoria.graph.vocabulary import SCHEMA_VERSION
from memoria.store import ServerFacts, Session, Store, StoreOrDriver, writable_store_of
from memoria.store.facts import is_2026_or_later
from memoria.store.queries import Query, load

# Size of the vectors if a database is set up without an embedder and without any vector.
NO_EMBEDDER_DIMENSIONS = 384
POLL_S = 0.1
#: Number of duplicate pairs of scope and id that a message names.
SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReport:
    """What `apply_schema` created, and what it found.

    Attributes
    ----------
    facts
        Facts about the server after the set-up.
    created, existing
        Names of the indexes that it created, and of the indexes that were there before.
    """

    facts: ServerFacts
    created: tuple[str, ...]
    existing: tuple[str, ...]


async def apply_schema(
    store: StoreOrDriver,
    *,
    embedder: NamedEmbedder | None = None,
    dimensions: int | None = None,
    kinds: bool = False,
    timeout_s: float = 300.0,
    database: str | None = None,
) -> SchemaReport:
    """Create missing constraints and indexes, and wait until all indexes are online.

    Nothing that is there is changed. The call may be repeated, and several processes may make it
    at once.

    Parameters
    ----------
    store
        A `Store`, such as the store of a retriever, or an open driver of your own.
    embedder
        Makes the vectors. Its name and the size of its vectors are recorded; with None, the first
        embedder that stores vectors is recorded.
    dimensions
        Numbers in one vector, if the memories come with their vectors; 1 to 4096. None means the
        size of the embedder's vectors, else the size that the database was set up for, else 384.
    kinds
        Whether to add the optional ``id`` index of each default kind.
    timeout_s
        Time for the whole call, including the time in which indexes populate; seconds, > 0.
    database
        Name of the database, on a driver of your own; None for ``neo4j``.

    Raises
    ------
    ConfigError
        ``timeout_s`` or ``dimensions`` is out of range, or ``dimensions`` is not the embedder's.
    InvalidInputError
        ``embedder`` is not an embedder: wrap a function in `CallableEmbedder`. Or ``store`` is
        neither a store nor an async driver.
    DimensionError
        The database was set up for vectors of another size or model; nothing was changed.
    IndexNotReadyError
        An index is not online in time, or it failed, or another index has its name.
    """
    store = writable_store_of(store, database)
    timeout_s = check_seconds(timeout_s, "timeout_s", error=ConfigError)
    name, size = await _name_and_size(embedder, dimensions)
    until = asyncio.get_running_loop().time() + timeout_s
    # The statement that creates a constraint checks it against all nodes, which may take long.
    async with store.patient(timeout_s).session("write", until=until) as session:
        before = await probe_session(session)
        size = size or before.dimensions or NO_EMBEDDER_DIMENSIONS
        check_vectors_fit(before, dimensions=size, embedder=name)
        statements = schema_statements(before)
        if kinds:
            statements += _statements("schema-kinds", before.generation)
        for statement in statements:
            await create_index(session, statement, size)
        names = [created_name(statement) for statement in statements]
        facts = await wait_online(session, names, until)
        # Another process may have created the index in the meantime, for other vectors.
        check_vectors_fit(facts, dimensions=size, embedder=name)
        facts = await _record(session, facts, size, name)
    check_vectors_fit(facts, dimensions=size, embedder=name)
    if is_complete(facts):
        store.facts.put(facts)
    return SchemaReport(
        facts=facts,
        created=tuple(name for name in names if name not in before.indexes),
        existing=tuple(name for name in names if name in before.indexes),
    )


async def _name_and_size(
    embedder: NamedEmbedder | None, dimensions: int | None
) -> tuple[str | None, int | None]:
    """Return the name of the embedder and the size of its vectors, checked; None if unknown."""
    name = None
    if embedder is not None:
        if not hasattr(embedder, "name") or not hasattr(embedder, "dimensions"):
            checked_embedder(embedder)
        name = embedder.name
        # In a thread, because some models must be loaded before they can tell the size.
        size = await asyncio.to_thread(lambda: embedder.dimensions)
        if dimensions not in (None, size):
            raise ConfigError(
                f"dimensions is {dimensions}, but the embedder makes vectors of {size}: leave "
                "dimensions out",
                field="dimensions",
            )
        dimensions = size
    if dimensions is not None:
        check_whole(dimensions, "dimensions", low=1, high=MAX_DIMENSIONS, error=ConfigError)
    return name, dimensions


def schema_statements(facts: ServerFacts, generation: int | None = None) -> list[Query]:
    """Return the statements that create constraints and indexes on a server.

    Parameters
    ----------
    generation
        That of the vectors to be indexed; None for the live one.
    """
    name = "schema-25" if is_2026_or_later(facts.version) else "schema"
    return _statements(name, facts.generation if generation is None else generation)


def _statements(name: str, generation: int) -> list[Query]:
    """Return the statements of a schema file that create constraints and indexes.

    Their dimensions become a parameter. The last statement of a file records a set-up by hand. It
    is left out here, because ``graph.record`` writes that record with the name of the embedder.
    """
    file = load(name)
    literal, parameter = "`vector.dimensions`: 384", "`vector.dimensions`: $p.dimensions"
    texts = (part.strip().replace(literal, parameter) for part in file.text.split(";"))
    return [
        replace(file, name=f"{name}.{number}", text=text).at(generation)
        for number, text in enumerate(texts, start=1)
        if "IF NOT EXISTS" in text
    ]


def created_name(statement: Query) -> str:
    """Return the name of the constraint or index that a statement creates."""
    match = re.search(r"(?:CONSTRAINT|INDEX) (\w+) IF NOT EXISTS", statement.text)
    if match is None:
        raise ConfigError(f"{statement.name} must create a constraint or index with a name")
    return match[1]


async def create_index(session: Session, statement: Query, dimensions: int) -> None:
    """Create what a statement of `schema_statements` creates, unless it is there."""
    try:
        await session.run(statement, {"dimensions": dimensions})
    except QueryError as exc:
        if "ConstraintCreationFailed" in str(exc):
            rows = await session.run(load("doctor.duplicates"), {"limit": SHOWN})
            if rows:
                name = created_name(statement)
                raise ConfigError(f"the constraint {name} can't be made: {named(rows)}") from exc
        # Two set-ups run at once: both saw that it was missing, and the other set-up created it.
        if "EquivalentSchemaRuleAlreadyExists" not in str(exc):
            raise


def named(duplicates: Sequence[Mapping[str, Any]]) -> str:
    """Name the nodes that share scope and id, and say how to fix them."""
    shown = "; ".join(
        f"{each['number']} nodes of scope {value_of(each['scope'])} have the id "
        f"{value_of(each['id'])}, such as {each['first']} and {each['last']}"
        for each in duplicates
    )
    return f"{shown}. Give all but one of them another id, or delete them, then run memoria init"


async def record_embedder(store: Store, facts: ServerFacts, embedder: NamedEmbedder) -> ServerFacts:
    """Record the embedder that is about to store vectors, if the set-up named none.

    Raises
    ------
    DimensionError
        Another embedder was recorded first; the message names both.
    """
    if facts.embedder is not None:
        return facts
    size = facts.dimensions or embedder.dimensions
    parameters = _recorded(size, embedder.name, facts.generation)
    rows = await store.run(load("graph.record"), parameters)
    facts = replace(facts, embedder=rows[0]["embedder"])
    check_embedder(facts, embedder)
    store.facts.put(facts)
    return facts


async def _record(
    session: Session, facts: ServerFacts, dimensions: int, embedder: str | None
) -> ServerFacts:
    """Record which vectors the indexes hold; an embedder that is already recorded stays."""
    parameters = _recorded(dimensions, embedder, facts.generation)
    rows = await session.run(load("graph.record"), parameters)
    return replace(facts, embedder=rows[0]["embedder"], schema_version=SCHEMA_VERSION)


def _recorded(dimensions: int, embedder: str | None, generation: int) -> dict[str, Any]:
    return {
        "dimensions": dimensions,
        "embedder": embedder,
        "generation": generation,
        "schema_version": SCHEMA_VERSION,
    }


async def wait_online(session: Session, names: Iterable[str], until: float) -> ServerFacts:
    """Wait until the named indexes are online.

    An index that is not populating will never be online, so it is an error at once.
    """
    while True:
        facts = await probe_session(session)
        waiting = [name for name in names if facts.indexes.get(name) != "ONLINE"]
        if not waiting:
            return facts
        populating = all(facts.indexes.get(name) == "POPULATING" for name in waiting)
        if not populating or asyncio.get_running_loop().time() + POLL_S >= until:
            for name in sorted(waiting, key=lambda name: facts.indexes.get(name) == "POPULATING"):
                require_online(name, facts)
        await asyncio.sleep(POLL_S)
