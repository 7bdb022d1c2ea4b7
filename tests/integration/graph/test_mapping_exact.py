"""A mapped graph against the oracle: six shapes, energies and paths equal to the last bit."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import neo4j
import pytest

from memoria.doctor.plans import explain
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import Seed
from tests.effort import effort
from tests.generated import SCOPE, Question, random_question
from tests.oracle.agreement import assert_agreement, gather_limited
from tests.oracle.mapped import Foreign, Shape, foreign, shapes, write_foreign
from tests.oracle.transfer import Graph, Node, explore

TAG = uuid4().hex[:12]
SHAPES = shapes(TAG)
GRAPHS = effort().graphs // 4
AT_ONCE = 4


@dataclass(frozen=True, kw_only=True)
class Mapped:
    """A question in a foreign shape, and what the oracle explores for it."""

    prefix: str
    question: Question
    graph: Graph
    ids: dict[str, str]


@pytest.fixture(scope="module")
async def indexes(driver: neo4j.AsyncDriver) -> None:
    """Make those of all shapes at once: after each, the server plans every query again."""
    for shape in SHAPES:
        for label, key in shape.key_of.items():
            if key != "elementId":
                await driver.execute_query(f"CREATE INDEX FOR (n:`{label}`) ON (n.`{key}`)")
    await driver.execute_query("CALL db.awaitIndexes()")


@pytest.fixture(scope="module", params=SHAPES, ids=lambda shape: shape.name)
async def shape(
    request: pytest.FixtureRequest,
    driver: neo4j.AsyncDriver,
    indexes: None,  # noqa: ARG001
) -> AsyncIterator[Shape]:
    made: Shape = request.param
    yield made
    for label in made.key_of:
        await driver.execute_query(f"MATCH (n:`{label}`) DETACH DELETE n")


@pytest.fixture(scope="module")
async def mapped(driver: neo4j.AsyncDriver, shape: Shape) -> list[Mapped]:
    questions = [random_question(random.Random(seed)) for seed in range(GRAPHS)]
    prefixes = [f"{TAG}{shape.name}{seed}-" for seed in range(GRAPHS)]
    made: list[Foreign] = [
        foreign(random.Random(seed), question.graph, shape, prefix)
        for seed, (question, prefix) in enumerate(zip(questions, prefixes, strict=True))
    ]
    ids = await write_foreign(driver, made)
    found = []
    for question, prefix, each in zip(questions, prefixes, made, strict=True):
        own = {Node(*place[1:]): id_ for place, id_ in ids.items() if place[0] == prefix}
        graph, names = each.graph(own, replace(question.config, situation={}))
        found.append(Mapped(prefix=prefix, question=question, graph=graph, ids=names))
    return found


async def disagreement(retriever: GraphRetriever, one: Mapped) -> str | None:
    question = one.question
    seeds = {one.ids.get(id_, id_): score for id_, score in question.seeds}
    scoped = retriever.for_scope(one.prefix + SCOPE)
    config = replace(question.config, situation={})
    stream = scoped.explore_seeds(
        [Seed(id=id_, score=score) for id_, score in seeds.items()],
        query_tags=question.query_tags,
        config=config,
        deadline_s=120.0,
    )
    found = {each.seed.id: each async for each in stream}
    for id_, score in seeds.items():
        expected = explore(one.graph, SCOPE, id_, score, question.query_tags, config)
        try:
            assert_agreement(found[id_], expected)
        except AssertionError as error:
            return f"{one.prefix} seed {id_!r}: {error}"
    return None


async def test_the_engine_and_the_oracle_agree_on_mapped_graphs(
    store: Store, shape: Shape, mapped: list[Mapped]
) -> None:
    retriever = GraphRetriever(store, scope="any", mapping=shape.mapping)
    wrong = await gather_limited(AT_ONCE, (disagreement(retriever, one) for one in mapped))
    assert [text for text in wrong if text] == []
    hops = sum(len(one.graph.edges) for one in mapped)
    assert hops > GRAPHS


@pytest.mark.parametrize(
    "name",
    [
        *("strategies.level", "strategies.edges", "strategies.anchors", "graph.hydrate"),
        *("ranking.candidates", "recall.needs", "recall.tags", "context.duplicates"),
    ],
)
async def test_no_query_of_a_recall_scans_a_mapped_graph(
    store: Store, shape: Shape, mapped: list[Mapped], name: str
) -> None:
    assert mapped
    retriever = GraphRetriever(store, scope="any", mapping=shape.mapping)
    steps = await explain(retriever.store, load(name))
    assert [step for step, _ in steps if "Scan" in step] == []
    assert any("Seek" in step for step, _ in steps)


async def test_no_scope_of_a_mapped_graph_reaches_another(
    store: Store, shape: Shape, mapped: list[Mapped]
) -> None:
    """Most of the generated graphs have edges into another scope."""
    retriever = GraphRetriever(store, scope="any", mapping=shape.mapping)
    for one in mapped[:8]:
        scoped = retriever.for_scope(one.prefix + SCOPE)
        inside = {node.id for node in one.graph.nodes if node.scope == SCOPE}
        seeds = [Seed(id=id_, score=1.0) for id_ in sorted(inside)[:5]]
        reached: set[str] = set()
        async for each in scoped.explore_seeds(seeds):
            reached |= {id_ for path in each.paths for id_ in path.ids}
        listed = await _all_pages(scoped)
        assert reached <= inside
        assert len(listed) == len(set(listed))
        assert set(listed) == inside - {node.id for node in one.graph.connectors}
        assert await _foreign_ids(scoped, one) == ()


async def _all_pages(scoped: GraphRetriever) -> list[str]:
    """Ids by pages of three; some ids are in another order as a parameter."""
    found: list[str] = []
    after: str | None = None
    while True:
        page = await scoped.list(limit=3, after=after)
        found += [memory.id for memory in page.memories]
        if (after := page.next) is None:
            return found


async def _foreign_ids(scoped: GraphRetriever, one: Mapped) -> tuple[Any, ...]:
    """Ids of other scopes, asked for by name; an id may be in this scope as well."""
    inside = {node.id for node in one.graph.nodes if node.scope == SCOPE}
    other = sorted({n.id for n in one.graph.nodes if n.scope != SCOPE and n.id} - inside)
    if not other:
        return ()
    return tuple(memory.id for memory in (await scoped.get(other)).memories)
