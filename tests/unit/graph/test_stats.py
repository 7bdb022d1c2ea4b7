"""Counting a scope with a store that answers no query before all three have come."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memoria.errors import UnavailableError
from memoria.graph.stats import ScopeStats, scope_stats
from memoria.store.facts import ServerFacts
from memoria.store.queries import Query
from tests.server_facts import server_facts

FACTS = server_facts(dimensions=None)
NO_STATS = ScopeStats(
    scope="",
    memories=0,
    embedded=0,
    kinds={},
    edges=0,
    relations={},
    top_tags={},
    top_edge_tags={},
    oldest=None,
    newest=None,
    mean_degree=0.0,
    max_degree=0,
)
COUNTED: dict[str, Any] = {
    "memories": 2,
    "embedded": 1,
    "kinds": [["Event", 2]],
    "connectors": [],
    "oldest": None,
    "newest": None,
    "mean_degree": 1.0,
    "max_degree": 1,
    "pending_vectors": 0,
}
ROWS: dict[str, dict[str, Any]] = {
    "graph.stats_memories": COUNTED,
    "graph.stats_relations": {"relations": [["next", 1, 0.5]]},
    "graph.stats_tags": {"tags": [["x", 2]]},
    "graph.stats_edge_tags": {"tags": [["y", 1]]},
}


class Facts:
    """What a store keeps of a server that it has never asked."""

    kept = None

    async def get(self, *_: object, **__: object) -> ServerFacts:
        return FACTS


class Together:
    """A store; of queries that come one after another it answers none."""

    translation = None

    facts = Facts()

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self._all = asyncio.Barrier(len(ROWS))

    def patient(self) -> Together:
        return self

    async def run(self, query: Query, _: object) -> list[dict[str, Any]]:
        await self._all.wait()
        if query.name == self.failing:
            raise UnavailableError("the server went away")
        return [ROWS[query.name]]


async def test_the_memories_the_edges_and_their_tags_of_a_scope_are_counted_at_once() -> None:
    store: Any = Together()
    async with asyncio.timeout(60):
        found = await scope_stats(store, "a")
    assert (found.memories, found.edges) == (2, 1)
    assert (found.top_tags, found.top_edge_tags) == ({"x": 2}, {"y": 1})


@pytest.mark.parametrize("failing", ROWS)
async def test_a_count_that_fails_is_an_error(failing: str) -> None:
    store: Any = Together(failing)
    async with asyncio.timeout(60):
        with pytest.raises(UnavailableError):
            await scope_stats(store, "a")
