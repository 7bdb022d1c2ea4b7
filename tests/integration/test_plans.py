"""No query scans, however many memories there are: EXPLAIN of each, as the server would run it."""

from __future__ import annotations

import re
from collections.abc import Mapping

import neo4j
import pytest

from memoria.doctor import plans
from memoria.doctor.plans import Step
from memoria.doctor.subject import ExamineConfig, read_subject
from memoria.graph.server_facts import server_facts
from memoria.store import Store
from memoria.store.queries import load
from tests.effort import effort
from tests.integration.counts import count, driver, store

__all__ = ["driver", "store"]  # fixtures


async def explain(driver: neo4j.AsyncDriver, name: str) -> list[Step]:
    """Return the plan of a query; the server has time to make it for the first time."""
    store = Store(driver, database="neo4j")
    if not (await server_facts(store)).can_run(load(name)):
        pytest.skip(f"2026-11-23: Neo4j 5 can't run {name}")
    return await plans.explain(store, load(name))


@pytest.mark.parametrize(
    "name",
    [
        *("strategies.level", "strategies.edges", "strategies.anchors", "graph.hydrate"),
        *("strategies.situation", "ranking.candidates", "graph.neighbours"),
    ],
)
async def test_memories_are_found_through_the_uniqueness_constraint(
    driver: neo4j.AsyncDriver, name: str
) -> None:
    seeks = [
        step for step in await explain(driver, name) if step[0].startswith("NodeUniqueIndexSeek")
    ]
    assert len(seeks) == 1
    assert "(scope, id)" in seeks[0][1]
    assert "Locking" not in seeks[0][0]


@pytest.mark.parametrize("name", ["graph.matching", "graph.newest"])
async def test_lists_of_memories_seek_the_scope_and_pages_need_no_sort(
    driver: neo4j.AsyncDriver, name: str
) -> None:
    plan = await explain(driver, name)
    seeks = [details for step, details in plan if "Seek" in step]
    assert all("(scope, id)" in details for details in seeks)
    sorts = [step for step, _ in plan if "Sort" in step or "Top" in step]
    assert bool(sorts) == (name == "graph.newest")


async def test_synapse_finds_memories_by_id_and_tags_in_one_pass_over_the_scope(
    driver: neo4j.AsyncDriver,
) -> None:
    seeks = [step for step in await explain(driver, "strategies.synapse") if "Seek" in step[0]]
    assert len(seeks) == 2
    assert all("(scope, id)" in details for _, details in seeks)


async def test_level_reads_the_degree_from_the_store(driver: neo4j.AsyncDriver) -> None:
    plan = await explain(driver, "strategies.level")
    assert any("getDegree((current)-[:RELATES]-())" in details for _, details in plan)
    assert [name for name, _ in plan].count("Expand(All)") == 1


async def test_level_drops_hopeless_parents_before_it_expands(driver: neo4j.AsyncDriver) -> None:
    names = [name for name, _ in await explain(driver, "strategies.level")]
    below = names[names.index("Expand(All)") + 1 :]
    assert below[:2] == ["Projection", "Filter"]
    assert names.index("Top") < names.index("Expand(All)"), "each parent is capped in the database"


async def test_exact_vector_search_seeks_the_scope(driver: neo4j.AsyncDriver) -> None:
    names = [name for name, _ in await explain(driver, "seeds.vector_exact")]
    assert any(name.startswith(("NodeIndexSeek", "NodeUniqueIndexSeek")) for name in names), names


async def test_search_within_a_scope_goes_through_its_index(driver: neo4j.AsyncDriver) -> None:
    plan = await explain(driver, "seeds.vector_search")
    assert any(name == "NodeVectorIndexSearch" for name, _ in plan)
    assert not [name for name, _ in plan if name in plans.SCANS]


async def test_searches_go_through_their_indexes(driver: neo4j.AsyncDriver) -> None:
    text = await explain(driver, "seeds.text")
    assert any("db.index.fulltext.queryNodes" in details for _, details in text)
    procedure = await explain(driver, "seeds.vector_procedure")
    assert any("db.index.vector.queryNodes" in details for _, details in procedure)
    exact = await explain(driver, "seeds.vector_exact")
    seeks = [details for name, details in exact if "IndexSeek" in name]
    assert len(seeks) == 1
    assert "(scope, id)" in seeks[0]
    for plan in (text, procedure, exact):
        assert not [name for name, _ in plan if name in plans.SCANS]


async def ways_to_find(store: Store) -> dict[str, list[Step]]:
    """Return, of each query, the steps of its plan that find nodes and edges, in no order."""
    facts = await server_facts(store)
    return {
        query.name: sorted(
            _comparable(*step)
            for step in await plans.explain(store, query.at(facts.generation))
            if any(word in step[0] for word in ("Seek", "Scan", "Search", "Expand"))
        )
        for query in plans.shipped()
        if facts.can_run(query)
    }


def _comparable(step: str, details: str) -> Step:
    """Leave out of a step whether it locks, what it caches and tests, and the names of edges.

    An edge has a name or none, depending on where it is tested; names that the server gives vary.
    """
    step = step.removesuffix("(Locking)").removeprefix("Optional")
    details = re.sub(r"(anon|auto\w+)_\d+", "_", details.partition(", cache[")[0])
    if "Expand" in step:
        details = re.sub(r"\[\w*:", "[:", details.partition(" WHERE ")[0])
    return step, details


@pytest.fixture(scope="module")
async def found_when_empty(driver: neo4j.AsyncDriver, store: Store) -> dict[str, list[Step]]:
    await count(driver, memories=0, scopes=1, edges=0)
    return await ways_to_find(store)


@pytest.mark.parametrize(
    ("memories", "edges"), [(30, 5_000), (20_000, 10), (300, 20_000)][: effort().populations]
)
async def test_no_counts_of_a_database_make_a_query_scan_or_find_in_another_way(
    driver: neo4j.AsyncDriver,
    store: Store,
    found_when_empty: Mapping[str, list[Step]],
    memories: int,
    edges: int,
) -> None:
    """Plans are kept while a database grows, so those of an empty one must be as good.

    With few nodes and many edges a scan of the nodes looks cheaper than the edges of one; in an
    empty database, all memories of a scope look as cheap as one. The test changes the counts of
    this file, so it is the last one.
    """
    await count(driver, memories=memories, scopes=3, edges=edges)
    found = await ways_to_find(store)
    scans = [
        (name, step)
        for name, steps in found.items()
        for step in steps
        if name not in plans.MAY_SCAN and step[0] in plans.SCANS
    ]
    assert scans == []
    # The doctor checks most of them by a rule of its own, and the server has planned them by now.
    subject = await read_subject(store, None, ExamineConfig())
    assert [each for each in await plans.check_plans(subject) if each.severity != "ok"] == []
    others = {
        name: (found_when_empty[name], steps)
        for name, steps in found.items()
        if steps != found_when_empty[name]
    }
    assert others == {}
