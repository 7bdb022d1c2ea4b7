"""Constraints, indexes and the record of which embedder they serve.

In: a store, and the size and model of its vectors. Out: what the server is and has.
`apply_schema` writes; `probe` and `check_schema` read. Queries: ``schema*``, ``schema.*``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import neo4j

from memoria.errors import ConfigError, DimensionError, IndexNotReadyError, QueryError
from memoria.queries import Query, load
from memoria.store import Session, Store
from memoria.validation import MAX_DIMENSIONS

SCHEMA_VERSION = 1
UNIQUE = "memory_scope_id"
VECTOR = "memory_embedding"
TEXT = "memory_text"
POLL_S = 0.1

# Index name -> type, label and leading properties that it must have to be ours.
_REQUIRED: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    UNIQUE: ("RANGE", "Memory", ("scope", "id")),
    "memoria_meta_key": ("RANGE", "MemoriaMeta", ("key",)),
    TEXT: ("FULLTEXT", "Memory", ("text", "scope_key")),
    VECTOR: ("VECTOR", "Memory", ("embedding",)),
}
_OTHER = "OTHER"
_MISSING = "MISSING"


class NamedEmbedder(Protocol):
    """The part of an embedder that the schema is about."""

    @property
    def name(self) -> str:
        """Model and variant."""
        ...

    @property
    def dimensions(self) -> int:
        """Numbers in one vector."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a server is, and what its database has.

    Attributes
    ----------
    version, edition
        Of the server, such as ``2026.08.1`` and ``community``.
    vector_dialect
        ``search`` where the vector index can filter by scope (Neo4j 2026 and later, index set
        up with its scope), else ``procedure``.
    dimensions
        Size of the vectors that the vector index holds; None without such an index.
    embedder
        Name of the embedder recorded at set-up, or None.
    indexes
        Index name -> state: ``ONLINE``, ``POPULATING``, ``FAILED``; or ``OTHER`` for an index
        that has one of memoria's names and covers something else.
    """

    version: str
    edition: str
    vector_dialect: Literal["search", "procedure"]
    dimensions: int | None
    embedder: str | None
    indexes: Mapping[str, str]

    @property
    def has_single_trip(self) -> bool:
        """Whether it takes the query of all levels: Neo4j 2026 and later; 5.26 refuses it."""
        return _is_2026_or_later(self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReport:
    """What `apply_schema` did.

    Attributes
    ----------
    facts
        The server afterwards.
    created, existing
        Names of the indexes that it made, and of those that were there before.
    """

    facts: ServerFacts
    created: tuple[str, ...]
    existing: tuple[str, ...]


async def probe(store: Store, *, until: float | None = None) -> ServerFacts:
    """Ask what the server is and has; three round trips."""
    async with store.session("read", until=until) as session:
        return await _probe(session)


async def check_schema(
    store: Store, *, dimensions: int | None = None, embedder: str | None = None
) -> ServerFacts:
    """Check that the set-up is complete and fits these vectors; None asks nothing.

    Raises
    ------
    IndexNotReadyError
        An index is missing, populating or failed; names it and its state.
    DimensionError
        The index holds vectors of another size or model; names both.
    """
    facts = await probe(store)
    for name in _REQUIRED:
        require_online(name, facts)
    check_vectors_fit(facts, dimensions=dimensions, embedder=embedder)
    return facts


def check_embedder(facts: ServerFacts, embedder: NamedEmbedder | None) -> None:
    """Check that an embedder, if there is one, makes the vectors that the index holds.

    Raises
    ------
    DimensionError
        It makes others; names both sides.
    """
    if embedder is not None:
        check_vectors_fit(facts, dimensions=embedder.dimensions, embedder=embedder.name)


def check_vectors_fit(facts: ServerFacts, *, dimensions: int | None, embedder: str | None) -> None:
    """Raise `DimensionError` where both sides are known and differ."""
    if None not in (dimensions, facts.dimensions) and dimensions != facts.dimensions:
        raise DimensionError(
            f"the vectors have {dimensions} dimensions, but the index {VECTOR} holds "
            f"{facts.dimensions}: use the embedder it was set up for, or another database",
            field="dimensions",
        )
    if None not in (embedder, facts.embedder) and embedder != facts.embedder:
        raise DimensionError(
            f"the embedder is {embedder!r}, but the index {VECTOR} was set up for "
            f"{facts.embedder!r}: use that one, or another database",
            field="embedder",
        )


async def apply_schema(
    store: Store,
    *,
    dimensions: int,
    embedder: str | None,
    kinds: bool = False,
    timeout_s: float = 300.0,
) -> SchemaReport:
    """Make what is missing of constraints and indexes, and wait until all are online.

    Changes nothing that is there. May run again, and from several processes at once.

    Parameters
    ----------
    dimensions
        Numbers in one vector; 1 to 4096.
    embedder
        Name of the embedder to record; None records none.
    kinds
        Whether to add the optional ``id`` index of each default kind.
    timeout_s
        Time for everything, populating included; seconds, > 0.

    Raises
    ------
    DimensionError
        The database was set up for vectors of another size or model; nothing was changed.
    IndexNotReadyError
        An index is not online in time, or failed, or its name is taken.
    """
    if type(dimensions) is not int or not 1 <= dimensions <= MAX_DIMENSIONS:
        raise ConfigError(f"dimensions must be in [1, {MAX_DIMENSIONS}], got {dimensions!r}")
    if not timeout_s > 0:
        raise ConfigError(f"timeout_s must be above 0, got {timeout_s}")
    until = asyncio.get_running_loop().time() + timeout_s
    # A constraint is checked against all nodes by the statement that makes it: allow it the time.
    config = replace(store.config, query_timeout_s=timeout_s)
    patient = Store(store.driver, database=store.database, config=config)
    async with patient.session("write", until=until) as session:
        before = await _probe(session)
        check_vectors_fit(before, dimensions=dimensions, embedder=embedder)
        statements = _statements("schema-25" if _is_2026_or_later(before.version) else "schema")
        if kinds:
            statements += _statements("schema-kinds")
        for statement in statements:
            await _create(session, statement, {"dimensions": dimensions})
        names = [_created_name(statement) for statement in statements]
        facts = await _wait_online(session, names, until)
        # Another process may have made the index meanwhile, for other vectors.
        check_vectors_fit(facts, dimensions=dimensions, embedder=embedder)
        facts = await _record(session, facts, dimensions, embedder)
    check_vectors_fit(facts, dimensions=dimensions, embedder=embedder)
    return SchemaReport(
        facts=facts,
        created=tuple(name for name in names if name not in before.indexes),
        existing=tuple(name for name in names if name in before.indexes),
    )


async def _probe(session: Session) -> ServerFacts:
    components = await session.run(load("schema.components"), {})
    indexes = await session.run(load("schema.indexes"), {})
    meta = await session.run(load("schema.meta"), {})
    kernel = next((row for row in components if row["name"] == "Neo4j Kernel"), components[0])
    version: str = kernel["versions"][0]
    states = {row["name"]: _state(row) for row in indexes}
    ours = [row for row in indexes if row["name"] == VECTOR and states[VECTOR] != _OTHER]
    scoped = any("scope" in row["properties"] for row in ours)
    return ServerFacts(
        version=version,
        edition=kernel["edition"],
        vector_dialect="search" if scoped and _is_2026_or_later(version) else "procedure",
        dimensions=ours[0]["dimensions"] if ours else None,
        embedder=meta[0]["embedder"] if meta else None,
        indexes=states,
    )


def _state(row: neo4j.Record) -> str:
    state: str = row["state"]
    if (expected := _REQUIRED.get(row["name"])) is None:
        return state
    kind, label, properties = expected
    found = (row["type"], row["labels"], tuple(row["properties"][: len(properties)]))
    return state if found == (kind, [label], properties) else _OTHER


def _is_2026_or_later(version: str) -> bool:
    """Whether a server of this version has what came after 5.26, such as ``SEARCH``."""
    year = re.match(r"\d+", version)
    return year is not None and int(year[0]) >= 2026


def _statements(name: str) -> list[Query]:
    """Return the statements of a schema file, its dimensions replaced by a parameter."""
    file = load(name)
    literal, parameter = "`vector.dimensions`: 384", "`vector.dimensions`: $p.dimensions"
    texts = (part.strip().replace(literal, parameter) for part in file.text.split(";"))
    return [
        replace(file, name=f"{name}.{number}", text=text)
        for number, text in enumerate(filter(None, texts), start=1)
    ]


def _created_name(statement: Query) -> str:
    """Name of the constraint or index that a statement makes."""
    match = re.search(r"(?:CONSTRAINT|INDEX) (\w+) IF NOT EXISTS", statement.text)
    if match is None:
        raise ConfigError(f"{statement.name}: makes no named constraint or index")
    return match[1]


async def _create(session: Session, statement: Query, parameters: Mapping[str, int]) -> None:
    try:
        await session.run(statement, parameters)
    except QueryError as exc:
        # Two set-ups at once: both saw it missing, the other one made it.
        if "EquivalentSchemaRuleAlreadyExists" not in str(exc):
            raise


async def _record(
    session: Session, facts: ServerFacts, dimensions: int, embedder: str | None
) -> ServerFacts:
    """Write down what the indexes are for; the first embedder named stays."""
    parameters = {
        "dimensions": dimensions,
        "embedder": embedder,
        "schema_version": SCHEMA_VERSION,
    }
    rows = await session.run(load("schema.record"), parameters)
    return replace(facts, embedder=rows[0]["embedder"])


async def _wait_online(session: Session, names: Iterable[str], until: float) -> ServerFacts:
    """Wait until the named indexes are online; an index that never will be is an error at once."""
    while True:
        facts = await _probe(session)
        waiting = [name for name in names if facts.indexes.get(name) != "ONLINE"]
        if not waiting:
            return facts
        populating = all(facts.indexes.get(name) == "POPULATING" for name in waiting)
        if not populating or asyncio.get_running_loop().time() + POLL_S >= until:
            for name in sorted(waiting, key=lambda name: facts.indexes.get(name) == "POPULATING"):
                require_online(name, facts)
        await asyncio.sleep(POLL_S)


def require_online(name: str, facts: ServerFacts) -> None:
    """Raise `IndexNotReadyError`, which says what to do, unless the index is online."""
    state = facts.indexes.get(name, _MISSING)
    help_by_state = {
        "ONLINE": "",
        "POPULATING": "wait and try again, it goes on by itself",
        _MISSING: "run memoria init (from Python: apply_schema); if that was done, another index "
        "covers the same properties",
        _OTHER: "its name is taken by an index on something else: drop that one",
    }
    if state != "ONLINE":
        action = help_by_state.get(state, f"run DROP INDEX {name} IF EXISTS, then memoria init")
        raise IndexNotReadyError(f"index {name} is {state}: {action}")
