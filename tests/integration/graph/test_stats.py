"""Counting a scope, and naming the scopes: the numbers, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import neo4j
import pytest

from memoria.errors import ScopeError
from memoria.graph.stats import (
    TOP_TAGS,
    RelationStats,
    ScopeSize,
    ScopeStats,
    list_scopes,
    scope_stats,
)
from memoria.store import Store, Target
from memoria.store.queries import load, root
from memoria.types import Memory, Relation
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS
from tests.integration.ingest.test_export import memoria
from tests.unit.graph.test_stats import NO_STATS

PARAMETERS: dict[str, dict[str, Any]] = {
    "graph.stats_edge_tags": {"limit": 5, "scope": "s"},
    "graph.stats_memories": {"pending": "pending:s:", "scope": "s"},
    "graph.stats_relations": {"scope": "s"},
    "graph.stats_scopes": {},
    "graph.stats_tags": {"limit": 5, "scope": "s"},
}


@pytest.fixture
async def filled(store: Store, scope: str) -> str:
    """A hub ``a`` with three neighbours, one of which is tied to it twice; ``e`` stands alone."""
    times = [datetime(2026, 1, day, tzinfo=timezone(timedelta(hours=-3))) for day in range(1, 6)]
    memories = [
        Memory(
            id=id_,
            kind="Event" if id_ in "ab" else "AgentAnswer" if id_ in "cd" else "UserRequest",
            text=id_,
            tags=["x", "y"] if id_ == "a" else ["x"] if id_ == "b" else ["y", f"of {id_}"],
            created_at=time,
            embedding=[1.0] * DIMENSIONS if id_ == "c" else None,
        )
        for id_, time in zip("abcde", times, strict=True)
    ]
    edges = [
        Relation(source="a", target="b", relation="near", weight=0.25, tags=["rain"]),
        Relation(source="b", target="a", relation="near", weight=0.5, tags=["rain", "mud"]),
        Relation(source="a", target="c", relation="caused", weight=1.0),
        Relation(source="d", target="a", relation="near", weight=0.75),
    ]
    await GraphWriter(store, scope=scope).write(memories, edges)
    return scope


async def test_numbers_of_a_scope(store: Store, filled: str) -> None:
    found = await scope_stats(store, filled)
    assert found == ScopeStats(
        scope=filled,
        memories=5,
        embedded=1,
        kinds={"AgentAnswer": 2, "Event": 2, "UserRequest": 1},
        edges=4,
        relations={
            "near": RelationStats(count=3, mean_weight=0.5),  # (0.25 + 0.5 + 0.75) / 3
            "caused": RelationStats(count=1, mean_weight=1.0),
        },
        top_tags={"y": 4, "x": 2, "of c": 1, "of d": 1, "of e": 1},
        top_edge_tags={"rain": 2, "mud": 1},
        oldest=datetime(2026, 1, 1, 3, tzinfo=UTC),
        newest=datetime(2026, 1, 5, 3, tzinfo=UTC),
        mean_degree=8 / 5,  # two ends of each edge
        max_degree=4,
    )
    for mapping in (found.kinds, found.relations, found.top_tags, found.top_edge_tags):
        numbers = [each.count if isinstance(each, RelationStats) else each for each in
                   mapping.values()]  # fmt: skip
        assert numbers == sorted(numbers, reverse=True)


async def test_at_most_ten_tags_are_named(store: Store, scope: str) -> None:
    memories = [
        Memory(id=f"m{n}", kind="Event", text="t", tags=[f"t{k:02}" for k in range(n, 12)])
        for n in range(12)
    ]
    await GraphWriter(store, scope=scope).write(memories)
    top = (await scope_stats(store, scope)).top_tags
    assert list(top.items()) == [(f"t{k:02}", k + 1) for k in range(11, 11 - TOP_TAGS, -1)]


async def test_foreign_properties_are_counted_as_what_they_are(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await driver.execute_query(
        "CREATE (a:Memory {scope: $scope, id: 'a', tags: [1, 2], created_at: 'yesterday'}) "
        "CREATE (b:Memory:Zebra:Event {scope: $scope, id: 'b', tags: 'x', "
        "  created_at: datetime('+12026-01-01T00:00Z')}) "
        "CREATE (c:Memory:Event {scope: $scope, id: 'c', "
        "  created_at: datetime('2026-07-01T00:00+02:00[Europe/Berlin]')}) "
        "CREATE (a)-[:RELATES {weight: $nan}]->(b) CREATE (a)-[:RELATES {weight: '1'}]->(b) "
        "CREATE (a)-[:RELATES {relation: 'r', weight: 7}]->(b) "
        "CREATE (a)-[:RELATES {relation: 'r', weight: 1}]->(a) "
        "CREATE (a)-[:SUPPRESSES]->(b)",
        scope=scope,
        nan=float("nan"),
        database_="neo4j",
    )
    found = await scope_stats(store, scope)
    assert found.kinds == {"Event": 2, "Memory": 1}
    assert found.edges == 4
    assert found.relations == {
        "": RelationStats(count=2, mean_weight=None),
        "r": RelationStats(count=2, mean_weight=1.0),
    }
    assert found.top_tags == {"1": 1, "2": 1, "x": 1}
    assert found.oldest == found.newest == datetime(2026, 6, 30, 22, tzinfo=UTC)
    assert (found.mean_degree, found.max_degree) == (7 / 3, 4)  # a: 3 and its loop; b: 3; c: 0


async def test_scopes_are_listed_with_their_sizes(store: Store, filled: str) -> None:
    other = f"{filled}-other"
    await GraphWriter(store, scope=other).write([Memory(id="a", kind="Event", text="t")])
    found = await list_scopes(store)
    assert [each.scope for each in found] == sorted(each.scope for each in found)
    assert [each for each in found if each.scope.startswith(filled)] == [
        ScopeSize(scope=filled, memories=5, edges=4),
        ScopeSize(scope=other, memories=1, edges=0),
    ]


async def test_empty_scope_counts_nothing_and_no_scope_is_an_error(
    store: Store, scope: str
) -> None:
    assert await scope_stats(store, scope) == replace(NO_STATS, scope=scope)
    with pytest.raises(ScopeError):
        await scope_stats(store, "")


def test_every_query_has_parameters_to_be_explained_with() -> None:
    queries = [load(f"graph.{file.stem}") for file in (root() / "graph").glob("stats_*.cypher")]
    assert {query.name: query.params for query in queries} == {
        name: set(parameters) for name, parameters in PARAMETERS.items()
    }
    assert {query.mode for query in queries} == {"read"}


def test_command_prints_columns_that_line_up(target: Target, filled: str) -> None:
    done = memoria("stats", "--scope", filled, target=target)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == [
        f"scope              {filled}",
        "memories           5",
        "with a vector      1",
        "edges              4",
        "edges of a memory  1.6 on average, 4 at most",
        "made               2026-01-01 to 2026-01-05",
        "",
        "kind         memories",
        "AgentAnswer         2",
        "Event               2",
        "UserRequest         1",
        "",
        "relation  edges  mean weight",
        "near          3        0.500",
        "caused        1        1.000",
        "",
        "tag   memories",
        "y            4",
        "x            2",
        "of c         1",
        "of d         1",
        "of e         1",
        "",
        "tag   edges",
        "rain      2",
        "mud       1",
    ]


def test_command_draws_tables_on_a_terminal(target: Target, filled: str) -> None:
    done = memoria("stats", "--scope", filled, target=target, NO_COLOR="", FORCE_COLOR="1")
    assert done.returncode == 0
    assert "──" in done.stdout.decode()
    assert "\x1b[1m" in done.stdout.decode()


def test_command_prints_json(target: Target, filled: str) -> None:
    facts = json.loads(memoria("stats", "--scope", filled, "--json", target=target).stdout)
    assert set(facts) == set(ScopeStats.__dataclass_fields__)
    assert facts["relations"]["near"] == {"count": 3, "mean_weight": 0.5}
    assert facts["oldest"] == "2026-01-01T03:00:00+00:00"
    scopes = json.loads(memoria("stats", "--all", "--json", target=target).stdout)["scopes"]
    assert {"scope": filled, "memories": 5, "edges": 4} in scopes


async def test_command_lists_scopes_and_keeps_their_names_off_the_terminal_controls(
    target: Target, store: Store, scope: str
) -> None:
    name = f"{scope}\x1b[2J\n"
    await GraphWriter(store, scope=name).write([Memory(id="a", kind="Event", text="t")])
    lines = memoria("stats", "--all", target=target).stdout.decode().splitlines()
    assert lines[0].split() == ["scope", "memories", "edges"]
    assert [line.split()[1:] for line in lines if line.startswith(scope)] == [["1", "0"]]
    assert "\x1b" not in "".join(lines)


def test_command_on_an_empty_scope_says_how_to_find_the_others(target: Target, scope: str) -> None:
    done = memoria("stats", "--scope", scope, target=target)
    assert done.returncode == 0
    assert "memoria stats --all" in done.stdout.decode()
    facts = json.loads(memoria("stats", "--scope", scope, "--json", target=target).stdout)
    assert (facts["memories"], facts["oldest"]) == (0, None)
