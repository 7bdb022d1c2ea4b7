"""Set a database up: constraints, indexes, and the record of which embedder they serve.

In: a store, and the size and model of its vectors. Out: what was made. Writes.
Queries: ``schema*``, ``graph.record``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from memoria._support.checks import MAX_DIMENSIONS
from memoria.errors import ConfigError, QueryError
from memoria.graph.server import (
    ServerFacts,
    check_vectors_fit,
    is_2026_or_later,
    probe_session,
    require_online,
)
from memoria.store import Session, Store
from memoria.store.queries import Query, load

SCHEMA_VERSION = 1
POLL_S = 0.1


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
        before = await probe_session(session)
        check_vectors_fit(before, dimensions=dimensions, embedder=embedder)
        statements = _statements("schema-25" if is_2026_or_later(before.version) else "schema")
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
    rows = await session.run(load("graph.record"), parameters)
    return replace(facts, embedder=rows[0]["embedder"])


async def _wait_online(session: Session, names: Iterable[str], until: float) -> ServerFacts:
    """Wait until the named indexes are online; an index that never will be is an error at once."""
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
