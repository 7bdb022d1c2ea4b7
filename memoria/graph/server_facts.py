"""Ask the server for its version, its edition and the indexes of its database.

In: a store, an embedder or None. Out: `ServerFacts`, and checks of them. Reads only.
Queries: ``graph.components``, ``graph.indexes``, ``graph.meta``.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias

import neo4j

from memoria._support.single_flight import SingleFlight
from memoria.errors import ConfigError, DimensionError, IndexNotReadyError
from memoria.graph.vocabulary import (
    MEMORY_LABEL,
    META_INDEX,
    META_LABEL,
    SCHEMA_VERSION,
    TEXT_INDEX,
    UNIQUE_INDEX,
)
from memoria.store import ServerFacts, Session, Store
from memoria.store.facts import Reembedding, is_2026_or_later
from memoria.store.queries import load, vector_index, vector_property

_Index: TypeAlias = tuple[str, str, tuple[str, ...]]
# Index name -> the type, label and leading properties by which memoria knows its own index. The
# vector index has a name for each generation.
_REQUIRED: Mapping[str, _Index] = {
    UNIQUE_INDEX: ("RANGE", MEMORY_LABEL, ("scope", "id")),
    META_INDEX: ("RANGE", META_LABEL, ("key",)),
    TEXT_INDEX: ("FULLTEXT", MEMORY_LABEL, ("text", "scope_key")),
}
_OTHER = "OTHER"
_MISSING = "MISSING"


class NamedEmbedder(Protocol):
    """The part of an embedder that the schema needs."""

    @property
    def name(self) -> str:
        """Name of the model and its variant."""
        ...

    @property
    def dimensions(self) -> int:
        """Number of values in one vector."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentEmbedder:
    """Stands for an embedder that is not installed here: its name and the size of its vectors.

    Attributes
    ----------
    name
        Name of the model and its variant.
    dimensions
        Number of values in one vector.
    """

    name: str
    dimensions: int


async def server_facts(store: Store, *, until: float | None = None) -> ServerFacts:
    """Return facts about the server.

    A store keeps the answer once all indexes are online, and then does not ask again. Callers that
    ask at the same time share one answer.

    Parameters
    ----------
    until
        Time of the loop's clock until which the answer must have come; seconds.

    Raises
    ------
    DeadlineError
        The server did not answer in time.
    ConfigError
        An older or a newer memoria set the database up.
    """
    if store.translation is not None:
        return await store.translation.facts(until)
    return await store.facts.get(partial(_probe_current, store), keep=is_complete, until=until)


def is_complete(facts: ServerFacts) -> bool:
    """Tell whether all indexes that memoria needs are online."""
    return all(facts.indexes.get(name) == "ONLINE" for name in (*_REQUIRED, facts.vector_index))


def was_set_up(facts: ServerFacts) -> bool:
    """Tell whether any index has one of memoria's names, whatever its state."""
    return any(name in facts.indexes for name in (*_REQUIRED, facts.vector_index))


async def current_facts(store: Store, *, until: float | None = None) -> ServerFacts:
    """Return facts about the server as `server_facts`, and ask which vectors are live now.

    For calls that begin seldom and must not work on vectors that ``memoria reembed`` has replaced.
    One round trip; four if another generation is live.
    """
    kept = store.facts.kept
    if kept is not None:
        rows = await store.run(load("graph.meta"), {}, until=until)
        if _generations(rows) != (kept.generation, kept.reembedding):
            store.facts.forget(kept)
    return await server_facts(store, until=until)


async def has_moved(store: Store, generation: int, *, until: float | None = None) -> bool:
    """Tell whether the live vectors are not those that a caller has worked with."""
    return (await current_facts(store, until=until)).generation != generation


def replaced_error() -> DimensionError:
    """Return the error about vectors that were not written, because others are live by now."""
    return DimensionError(
        "memoria reembed has replaced the vectors of this database: this was not written; make "
        "its vectors with the new embedder, and write it again",
        field="embedder",
    )


async def require_ready(store: Store, *indexes: str, vectors: bool = False) -> ServerFacts:
    """Return current facts about the server if these indexes are online.

    Parameters
    ----------
    vectors
        Whether the live vector index must be online, too.

    Raises
    ------
    IndexNotReadyError
        An index is not online; the message says what to do.
    """
    facts = await current_facts(store)
    for name in (*indexes, *([facts.vector_index] if vectors else ())):
        require_online(name, facts)
    return facts


async def probe(store: Store, *, until: float | None = None) -> ServerFacts:
    """Ask the server for its facts again; three round trips."""
    async with store.session("read", until=until) as session:
        return await probe_session(session)


async def _probe_current(store: Store) -> ServerFacts:
    facts = await probe(store)
    check_schema(facts)
    return facts


def check_schema(facts: ServerFacts) -> None:
    """Raise `ConfigError`, which says what to run, if an older memoria set the database up."""
    if is_older(facts):
        raise ConfigError(
            f"this database was set up by an older memoria (schema {facts.schema_version}; this "
            f"one needs {SCHEMA_VERSION}): run memoria init (from Python: apply_schema)"
        )


def is_older(facts: ServerFacts) -> bool:
    """Tell whether an older memoria set the database up; False if nothing is recorded."""
    return facts.schema_version is not None and facts.schema_version < SCHEMA_VERSION


async def probe_session(session: Session) -> ServerFacts:
    """Ask in a session that is already open; see `probe`."""
    components = await session.run(load("graph.components"), {})
    indexes = await session.run(load("graph.indexes"), {})
    meta = await session.run(load("graph.meta"), {})
    kernel = next((row for row in components if row["name"] == "Neo4j Kernel"), components[0])
    version: str = kernel["versions"][0]
    generation, reembedding = _generations(meta)
    numbers = (generation, *([reembedding.generation] if reembedding is not None else ()))
    vectors = {vector_index(number): number for number in numbers}
    states = {row["name"]: _state(row, vectors.get(row["name"])) for row in indexes}
    live = vector_index(generation)
    ours = [row for row in indexes if row["name"] == live and states[live] != _OTHER]
    scoped = any("scope" in row["properties"] for row in ours)
    return ServerFacts(
        version=version,
        edition=kernel["edition"],
        vector_dialect="search" if scoped and is_2026_or_later(version) else "procedure",
        dimensions=ours[0]["dimensions"] if ours else None,
        embedder=meta[0]["embedder"] if meta else None,
        schema_version=meta[0]["schema_version"] if meta else None,
        indexes=states,
        generation=generation,
        reembedding=reembedding,
    )


def _generations(meta: Sequence[Mapping[str, Any]]) -> tuple[int, Reembedding | None]:
    """Return the live generation, and the other one, of the record of the set-up."""
    if not meta:
        return 1, None
    row = meta[0]
    _check_record(row)
    if row["state"] is None:
        return row["generation"], None
    other = Reembedding(
        state=row["state"],
        generation=row["other_generation"],
        embedder=row["other_embedder"],
        dimensions=row["other_dimensions"],
    )
    return row["generation"], other


def _check_record(row: Mapping[str, Any]) -> None:
    """Refuse a record of a newer memoria, and another program's node with the same key."""
    whole = [row[name] for name in ("generation", "last_generation")]
    maybe = [row[name] for name in ("schema_version", "dimensions", "other_generation")]
    texts = [row[name] for name in ("embedder", "state", "other_embedder")]
    is_ours = (
        all(isinstance(each, int) for each in whole)
        and all(each is None or isinstance(each, int) for each in [*maybe, row["other_dimensions"]])
        and all(each is None or isinstance(each, str) for each in texts)
    )
    if not is_ours:
        raise ConfigError(
            f"the node (:{META_LABEL} {{key: 'memoria'}}) is not the record of memoria's set-up: "
            "another program wrote it. Delete it, or give it another label; then run memoria init"
        )
    if (row["schema_version"] or 0) > SCHEMA_VERSION:
        raise ConfigError(
            f"this database was set up by a newer memoria (schema {row['schema_version']}; this "
            f"one knows {SCHEMA_VERSION}): update memoria"
        )


def check_embedder(facts: ServerFacts, embedder: NamedEmbedder | None) -> None:
    """Check that the index holds the vectors of an embedder; None checks nothing.

    Raises
    ------
    DimensionError
        The index holds other vectors; the message names both sides.
    """
    if embedder is not None:
        check_vectors_fit(facts, dimensions=embedder.dimensions, embedder=embedder.name)


def check_vectors_fit(facts: ServerFacts, *, dimensions: int | None, embedder: str | None) -> None:
    """Raise `DimensionError` if both sides are known and differ."""
    if None not in (embedder, facts.embedder) and embedder != facts.embedder:
        raise DimensionError(
            f"the embedder is {embedder!r}, but the index {facts.vector_index} "
            f"{_made_for(facts, embedder)}",
            field="embedder",
        )
    if None not in (dimensions, facts.dimensions) and dimensions != facts.dimensions:
        raise DimensionError(
            f"the vectors have {dimensions} dimensions, but the index {facts.vector_index} holds "
            f"{facts.dimensions}: use the embedder of the index, or change it with memoria reembed",
            field="dimensions",
        )


def _made_for(facts: ServerFacts, embedder: str | None) -> str:
    """Say which embedder the index holds the vectors of, and what to do about it."""
    other = facts.reembedding
    if other is not None and other.embedder == embedder and other.state == "filling":
        return (
            f"holds the vectors of {facts.embedder!r} until memoria reembed is done: use that "
            "embedder until then"
        )
    if facts.generation > 1:
        return (
            f"holds the vectors of {facts.embedder!r} since memoria reembed: use that embedder "
            "from now on"
        )
    return (
        f"was set up for {facts.embedder!r}: use that embedder, or change it with memoria reembed"
    )


def require_online(name: str, facts: ServerFacts) -> None:
    """Raise `IndexNotReadyError`, which says what to do, unless the index is online."""
    state = facts.indexes.get(name, _MISSING)
    help_by_state = {
        "ONLINE": "",
        "POPULATING": "wait and try again, the server is still populating it",
        _MISSING: "run memoria init (from Python: apply_schema); if that does not help, drop the "
        "index of another name that covers the same properties",
        _OTHER: "an index on something else has its name: drop that index, then run memoria init",
    }
    if state != "ONLINE":
        action = help_by_state.get(state, f"run DROP INDEX {name} IF EXISTS, then memoria init")
        raise IndexNotReadyError(f"index {name} is {state}: {action}")


def _state(row: neo4j.Record, generation: int | None) -> str:
    """Return the state of an index; the generation is that of the vectors it must hold, if any."""
    state: str = row["state"]
    if generation is not None:
        expected: _Index = ("VECTOR", MEMORY_LABEL, (vector_property(generation),))
    elif row["name"] in _REQUIRED:
        expected = _REQUIRED[row["name"]]
    else:
        return state
    kind, label, properties = expected
    found = (row["type"], row["labels"], tuple(row["properties"][: len(properties)]))
    return state if found == (kind, [label], properties) else _OTHER


class FittingFacts:
    """Facts about the databases of one driver, each checked once against the same embedder."""

    def __init__(self, embedder: NamedEmbedder | None) -> None:
        self._embedder = embedder
        # Database -> the facts that the embedder was checked against.
        self._checked = defaultdict[str, SingleFlight[ServerFacts]](SingleFlight)

    async def of(self, store: Store, *, until: float | None = None) -> ServerFacts:
        """Return facts about the server of a store, as `server_facts`.

        Raises
        ------
        DimensionError
            The embedder is not the one whose vectors the index holds.
        DeadlineError
            The server did not answer in time.
        """
        facts = await server_facts(store, until=until)
        if store.translation is not None:
            return facts  # whoever maps a graph checks its embedder
        check = partial(self._check, facts)
        kept = self._checked[store.database]
        checked = await kept.get(check, keep=is_complete, until=until)
        if checked is not facts:  # the store knows more by now, such as the embedder
            kept.put(await check())
        return facts

    async def _check(self, facts: ServerFacts) -> ServerFacts:
        # In a thread, because some models must be loaded before they know their dimensions.
        await asyncio.to_thread(check_embedder, facts, self._embedder)
        return facts
