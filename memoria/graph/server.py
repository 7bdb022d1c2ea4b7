"""What the server is, and which indexes its database has.

In: a store. Out: `ServerFacts`, and checks of them. Reads only.
Queries: ``graph.components``, ``graph.indexes``, ``graph.meta``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import neo4j

from memoria.errors import DimensionError, IndexNotReadyError
from memoria.graph.vocabulary import (
    MEMORY_LABEL,
    META_INDEX,
    META_LABEL,
    TEXT_INDEX,
    UNIQUE_INDEX,
    VECTOR_INDEX,
)
from memoria.store import Session, Store
from memoria.store.queries import load

# Index name -> type, label and leading properties that it must have to be ours.
_REQUIRED: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    UNIQUE_INDEX: ("RANGE", MEMORY_LABEL, ("scope", "id")),
    META_INDEX: ("RANGE", META_LABEL, ("key",)),
    TEXT_INDEX: ("FULLTEXT", MEMORY_LABEL, ("text", "scope_key")),
    VECTOR_INDEX: ("VECTOR", MEMORY_LABEL, ("embedding",)),
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
        return is_2026_or_later(self.version)


async def probe(store: Store, *, until: float | None = None) -> ServerFacts:
    """Ask what the server is and has; three round trips."""
    async with store.session("read", until=until) as session:
        return await probe_session(session)


async def probe_session(session: Session) -> ServerFacts:
    """Ask in a session that is open already; see `probe`."""
    components = await session.run(load("graph.components"), {})
    indexes = await session.run(load("graph.indexes"), {})
    meta = await session.run(load("graph.meta"), {})
    kernel = next((row for row in components if row["name"] == "Neo4j Kernel"), components[0])
    version: str = kernel["versions"][0]
    states = {row["name"]: _state(row) for row in indexes}
    ours = [
        row for row in indexes if row["name"] == VECTOR_INDEX and states[VECTOR_INDEX] != _OTHER
    ]
    scoped = any("scope" in row["properties"] for row in ours)
    return ServerFacts(
        version=version,
        edition=kernel["edition"],
        vector_dialect="search" if scoped and is_2026_or_later(version) else "procedure",
        dimensions=ours[0]["dimensions"] if ours else None,
        embedder=meta[0]["embedder"] if meta else None,
        indexes=states,
    )


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
            f"the vectors have {dimensions} dimensions, but the index {VECTOR_INDEX} holds "
            f"{facts.dimensions}: use the embedder it was set up for, or another database",
            field="dimensions",
        )
    if None not in (embedder, facts.embedder) and embedder != facts.embedder:
        raise DimensionError(
            f"the embedder is {embedder!r}, but the index {VECTOR_INDEX} was set up for "
            f"{facts.embedder!r}: use that one, or another database",
            field="embedder",
        )


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


def _state(row: neo4j.Record) -> str:
    state: str = row["state"]
    if (expected := _REQUIRED.get(row["name"])) is None:
        return state
    kind, label, properties = expected
    found = (row["type"], row["labels"], tuple(row["properties"][: len(properties)]))
    return state if found == (kind, [label], properties) else _OTHER


def is_2026_or_later(version: str) -> bool:
    """Whether a server of this version has what came after 5.26, such as ``SEARCH``."""
    year = re.match(r"\d+", version)
    return year is not None and int(year[0]) >= 2026
