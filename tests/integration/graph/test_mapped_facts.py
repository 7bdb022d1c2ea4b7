"""Facts on relationships of a mapped graph, found by their vectors."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memoria.doctor.plans import explain
from memoria.embed import CallableEmbedder
from memoria.errors import DimensionError
from memoria.graph.mapping import EdgeMapping, GraphMapping, NodeMapping
from memoria.graph.mapping.creating import create_indexes
from memoria.graph.mapping.detecting import detect
from memoria.recall.config import RetrieverConfig
from memoria.recall.seeds.config import SeedConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import MemoryFilter, Seeds
from tests.for_each import for_each

NOW = datetime(2026, 5, 1, tzinfo=UTC)
LONG_AGO, OVER, LATER = (datetime(year, 1, 1, tzinfo=UTC) for year in (2020, 2025, 2040))
SCHEMA = [
    "CREATE INDEX entity_uuid IF NOT EXISTS FOR (n:Entity) ON (n.uuid)",
    "CREATE INDEX episode_uuid IF NOT EXISTS FOR (n:Episodic) ON (n.uuid)",
    "CREATE INDEX entity_group IF NOT EXISTS FOR (n:Entity) ON (n.group_id)",
    "CREATE INDEX episode_group IF NOT EXISTS FOR (n:Episodic) ON (n.group_id)",
    "CREATE INDEX community_uuid IF NOT EXISTS FOR (n:Community) ON (n.uuid)",
    "CREATE INDEX community_group IF NOT EXISTS FOR (n:Community) ON (n.group_id)",
]
ROWS = """
UNWIND $entities AS row CREATE (:Entity {uuid: row[0], name: row[0], group_id: row[1]})
WITH count(*) AS made
UNWIND $episodes AS row
CREATE (:Episodic {uuid: row[0], content: row[0] + ' was said', group_id: row[1], valid_at: $past})
WITH count(*) AS made
UNWIND $facts AS row
MATCH (a:Entity {uuid: row.source}) MATCH (b:Entity {uuid: row.target})
CREATE (a)-[r:RELATES_TO {
  name: 'IS', fact: row.fact, group_id: a.group_id, episodes: row.episodes,
  fact_embedding: row.vector, valid_at: row.begins, expired_at: row.ends
}]->(b)
"""


def embedder(vector: Sequence[float]) -> CallableEmbedder:
    size = len(vector)
    return CallableEmbedder(lambda texts: [list(vector) for _ in texts], dimensions=size, name="x")


@dataclass(frozen=True, kw_only=True)
class Fact:
    source: str
    target: str
    vector: Sequence[float] | None
    episodes: Sequence[str] = ()
    begins: datetime | None = LONG_AGO
    ends: datetime | None = None
    text: str = "a fact"

    @property
    def row(self) -> dict[str, Any]:
        return {
            "source": self.source, "target": self.target, "fact": self.text,
            "vector": self.vector, "episodes": list(self.episodes), "begins": self.begins,
            "ends": self.ends,
        }  # fmt: skip

    def holds(self, at: datetime) -> bool:
        begun = self.begins is None or self.begins <= at
        return begun and (self.ends is None or self.ends > at)


async def write(
    store: Store,
    scopes: dict[str, str],
    facts: Sequence[Fact],
    *,
    index: bool = True,
) -> GraphMapping:
    """Write entities and episodes (names that begin with e) by scope, and facts; as Graphiti.

    They replace the graph that was written before; its indexes stay.
    """
    await store.driver.execute_query("MATCH (n) DETACH DELETE n", database_="neo4j")
    for statement in SCHEMA:
        await store.driver.execute_query(statement, database_="neo4j")
    entities = [[name, scope] for name, scope in scopes.items() if name[0] != "e"]
    episodes = [[name, scope] for name, scope in scopes.items() if name[0] == "e"]
    await store.driver.execute_query(
        ROWS, entities=entities, episodes=episodes, facts=[fact.row for fact in facts],
        past=LONG_AGO, database_="neo4j",
    )  # fmt: skip
    mapping = GraphMapping.named("graphiti")
    if index:
        await create_indexes(store, mapping, lambda _: None)
    return mapping


async def seeds_of(
    store: Store,
    mapping: GraphMapping,
    vector: Sequence[float],
    *,
    scope: str = "demo",
    where: MemoryFilter | None = None,
    **given: Any,
) -> Seeds:
    """Search by the vector alone."""
    memory = GraphRetriever(store, scope=scope, mapping=mapping, embedder=embedder(vector))
    settings = {"fusion": "cosine", "max_seeds": 50, "candidates": 50} | given.pop("seeds", {})
    config = RetrieverConfig(seeds=SeedConfig(**settings), **given)
    return await memory.find_seeds("zzz", config=config, where=where)


SCOPES = {
    "Ada": "demo",
    "Porto": "demo",
    "Acme": "demo",
    "Bob": "other",
    "e1": "demo",
    "e2": "other",
}
FACTS = [
    Fact(
        source="Ada",
        target="Porto",
        vector=[1.0, 0.0],
        episodes=["e1", "e2", "nowhere"],
        text="Ada lives in Porto",
    ),
    Fact(source="Ada", target="Acme", vector=[0.6, 0.8], ends=OVER),
    Fact(source="Ada", target="Bob", vector=[1.0, 0.0]),
    Fact(source="Bob", target="Bob", vector=[0.0, 1.0], episodes=["e1"]),
]


Demo = tuple[Store, GraphMapping]


@pytest.fixture(scope="module")
async def demo(emptied: Store) -> Demo:
    """The facts above with their index, for tests that only read and come before all others."""
    return emptied, await write(emptied, SCOPES, FACTS)


async def test_a_fact_leads_to_its_ends_and_to_what_states_it(demo: Demo) -> None:
    found = await seeds_of(*demo, [0.8, 0.6])
    assert {seed.id for seed in found.seeds} == {"Ada", "Porto", "e1"}
    assert {round(seed.score, 5) for seed in found.seeds} == {0.8}
    assert found.degraded == ()
    episodes = await seeds_of(*demo, [0.8, 0.6], where=MemoryFilter(kinds=("Episodic",)))
    assert [seed.id for seed in episodes.seeds] == ["e1"]


async def test_a_fact_that_is_over_is_found_at_its_time(demo: Demo) -> None:
    then = datetime(2024, 1, 1, tzinfo=UTC)
    found = await seeds_of(*demo, [0.6, 0.8], as_of=then)
    assert {seed.id: round(seed.score, 5) for seed in found.seeds} == {
        "Acme": 1.0, "Ada": 1.0, "Porto": 0.6, "e1": 0.6,
    }  # fmt: skip
    outdated = await seeds_of(*demo, [0.6, 0.8], include_outdated=True)
    assert "Acme" in {seed.id for seed in outdated.seeds}
    before = await seeds_of(*demo, [0.6, 0.8], as_of=LONG_AGO - timedelta(days=1))
    assert before.seeds == ()


async def test_no_scope_sees_the_facts_of_another_or_facts_between_them(demo: Demo) -> None:
    found = await seeds_of(*demo, [0.6, 0.8], scope="other")
    assert {seed.id: round(seed.score, 5) for seed in found.seeds} == {"Bob": 0.8}
    assert (await seeds_of(*demo, [0.6, 0.8], scope="nobody")).seeds == ()


async def test_a_recall_ranks_what_only_the_vector_of_a_fact_finds(demo: Demo) -> None:
    store, mapping = demo
    memory = GraphRetriever(store, scope="demo", mapping=mapping, embedder=embedder([1.0, 0.0]))
    found = await memory.recall("zzz")
    assert {entry.memory.id for entry in found.ranked} == {"Ada", "Porto", "e1"}
    hops = [hop for each in found.explorations for path in each.paths for hop in path.hops]
    assert {hop.relation for hop in hops if hop.relation != "MENTIONS"} == {"Ada lives in Porto"}
    assert not [note for note in found.trace.degraded if "vector" in note]


async def test_vectors_of_another_size_than_those_of_the_facts_are_refused(demo: Demo) -> None:
    store, mapping = demo
    memory = GraphRetriever(store, scope="demo", mapping=mapping, embedder=embedder([1.0] * 3))
    with pytest.raises(DimensionError, match="'fact_embedding' holds 2: use the embedder that"):
        await memory.recall("zzz")


@pytest.mark.parametrize("by_words", [False, True])
async def test_facts_that_are_over_do_not_hide_those_that_hold(
    empty: Store, *, by_words: bool
) -> None:
    scopes = {f"N{number}": "demo" for number in range(301)}
    over = [
        Fact(source=f"N{n}", target=f"N{n + 1}", vector=[1.0, n / 1e5], ends=OVER, text="an anvil")
        for n in range(1, 300)
    ]
    held = Fact(source="N0", target="N0", vector=[1.0, 0.1], text="a long text about an anvil")
    mapping = await write(empty, scopes, [*over, held])
    # One scope for all, so that the facts are not compared one by one after the index was asked.
    mapping = replace(mapping, nodes=tuple(replace(node, scope=None) for node in mapping.nodes))
    if by_words:
        config = RetrieverConfig(seeds=SeedConfig(candidates=10))
        found = await GraphRetriever(empty, mapping=mapping, config=config).find_seeds("anvil")
    else:
        few = {"candidates": 10, "max_seeds": 10}
        found = await seeds_of(empty, mapping, [1.0, 0.0], scope="default", seeds=few)
    assert [seed.id for seed in found.seeds] == ["N0"]


async def test_a_small_scope_in_a_large_graph_gets_its_facts(empty: Store) -> None:
    scopes = {f"N{number}": "large" for number in range(3_000)} | {"Ada": "demo", "Porto": "demo"}
    near = [
        Fact(source=f"N{n}", target=f"N{n - 1}", vector=[1.0, n / 1e6]) for n in range(1, 3_000)
    ]
    far = Fact(source="Ada", target="Porto", vector=[0.1, 1.0])
    mapping = await write(empty, scopes, [*near, far])
    found = await seeds_of(empty, mapping, [1.0, 0.0])
    assert {seed.id for seed in found.seeds} == {"Ada", "Porto"}


async def test_without_the_index_words_are_searched_and_that_is_said(empty: Store) -> None:
    mapping = await write(empty, SCOPES, FACTS, index=False)
    nodes = (replace(mapping.nodes[0], fulltext_index="names"), *mapping.nodes[1:])
    await empty.driver.execute_query(
        "CREATE FULLTEXT INDEX names FOR (n:Entity) ON EACH [n.name]", database_="neo4j"
    )
    await empty.driver.execute_query("CALL db.awaitIndexes()", database_="neo4j")
    memory = GraphRetriever(
        empty, scope="demo", mapping=replace(mapping, nodes=nodes), embedder=embedder([1.0, 0.0])
    )
    found = await memory.recall("Porto")
    assert (
        [seed.vector_score for seed in found.seeds.seeds] == [None] * len(found.seeds.seeds) != []
    )
    assert any("no vector index" in note for note in found.trace.degraded)


async def test_detect_proposes_the_vectors_of_facts_and_their_index(empty: Store) -> None:
    await write(empty, SCOPES, FACTS, index=False)
    proposal = await detect(empty)
    [missing] = [p for p in proposal.problems if "vectors" in p.text]
    assert not missing.stops
    assert "CREATE VECTOR INDEX `fact_embedding`" in (missing.statement or "")
    assert "`vector.dimensions`: 2" in (missing.statement or "")
    await create_indexes(empty, proposal.mapping, lambda _: None)
    assert [p for p in (await detect(empty)).problems if "vectors" in p.text] == []


async def test_detect_takes_an_index_of_another_name_and_properties_by_their_kind(
    empty: Store,
) -> None:
    statements = [
        "CREATE (:Film {title: 'a', plot: 'thieves in dreams'})"
        "-[:LIKE {embedding: [1.0, 0.0], fact: 'they are alike'}]->"
        "(:Film {title: 'b', plot: 'an agent in time'})-[:HATE {e: [1.0]}]->(:Film {title: 'c'})",
        "CREATE INDEX films FOR (f:Film) ON (f.title)",
        "CREATE VECTOR INDEX hates FOR ()-[r:HATE]-() ON r.e OPTIONS {indexConfig: "
        "{`vector.dimensions`: 1, `vector.similarity_function`: 'cosine'}}",
    ]
    for statement in statements:
        await empty.driver.execute_query(statement, database_="neo4j")
    edges = {edge.type: edge for edge in (await detect(empty)).mapping.edges}
    like, hate = edges["LIKE"], edges["HATE"]
    assert (like.embedding, like.vector_index) == ("embedding", "memoria_like_vectors")
    assert (hate.embedding, hate.vector_index) == ("e", "hates")


async def test_the_index_on_the_words_of_facts_is_created_for_all_types_that_name_it(
    empty: Store,
) -> None:
    for statement in (
        "CREATE (:Film {title: 'a', plot: 'thieves'})-[:LIKE {why: 'the same composer'}]->"
        "(:Film {title: 'b', plot: 'time'})-[:HATE {how: 'a quarrel'}]->(:Film {title: 'c'})",
        "CREATE INDEX films FOR (f:Film) ON (f.title)",
    ):
        await empty.driver.execute_query(statement, database_="neo4j")
    mapping = GraphMapping(
        nodes=(NodeMapping(label="Film", key="title", text=("plot",)),),
        edges=(
            EdgeMapping(type="LIKE", fact="why", fulltext_index="facts"),
            EdgeMapping(type="HATE", relation="how", fulltext_index="facts"),
        ),
    )
    statements: list[str] = []
    assert await create_indexes(empty, mapping, statements.append) == 1
    assert statements[0].startswith("CREATE FULLTEXT INDEX `facts`")
    assert await create_indexes(empty, mapping, statements.append) == 0
    memory = GraphRetriever(empty, mapping=mapping)
    for query, ends in (("composer", {"a", "b"}), ("quarrel", {"b", "c"})):
        found = await memory.recall(query)
        assert {seed.id for seed in found.seeds.seeds} == ends


async def test_nodes_and_facts_are_searched_on_one_scale(empty: Store) -> None:
    mapping = await write(empty, SCOPES, FACTS, index=False)
    for statement in (
        "MATCH (n:Entity {uuid: 'Acme'}) SET n.name_embedding = [0.96, 0.28]",
        "MATCH (n:Entity {uuid: 'Ada'}) SET n.name_embedding = [0.0, 1.0]",
        "CREATE VECTOR INDEX names FOR (n:Entity) ON n.name_embedding OPTIONS {indexConfig: "
        "{`vector.dimensions`: 2, `vector.similarity_function`: 'cosine', "
        "`vector.quantization.enabled`: false}}",
    ):
        await empty.driver.execute_query(statement, database_="neo4j")
    entity = replace(mapping.nodes[0], embedding="name_embedding", vector_index="names")
    mapping = replace(mapping, nodes=(entity, *mapping.nodes[1:]))
    await create_indexes(empty, mapping, lambda _: None)
    for candidates in (50, 4):  # compared with all, and by the indexes alone
        found = await seeds_of(
            empty, mapping, [0.8, 0.6], seeds={"candidates": candidates, "max_seeds": 4}
        )
        assert [(seed.id, round(seed.score, 3)) for seed in found.seeds] == [
            ("Acme", 0.936), ("Ada", 0.8), ("Porto", 0.8), ("e1", 0.8),
        ]  # fmt: skip


async def test_no_search_of_facts_scans_the_graph(empty: Store) -> None:
    scopes = {f"{kind}{n}": f"s{n % 100}" for n in range(2_000) for kind in ("N", "e")}
    facts = [Fact(source=f"N{n}", target=f"N{n - 100}", vector=[1.0, n]) for n in range(100, 2_000)]
    mapping = await write(empty, scopes, facts)
    await empty.driver.execute_query("CALL db.resampleOutdatedIndexes()", database_="neo4j")
    store = GraphRetriever(empty, scope="s1", mapping=mapping).store
    for name in ("seeds.vector_procedure", "seeds.vector_exact"):
        steps = await explain(store, load(name))
        assert [step for step, _ in steps if "Scan" in step] == [], name


def expected(
    scopes: dict[str, str], facts: Sequence[Fact], scope: str, vector: Sequence[float]
) -> dict[str, float]:
    """Compare every fact, in plain Python."""
    best: dict[str, float] = {}
    for fact in facts:
        inside = {scopes[fact.source], scopes[fact.target]} == {scope}
        if fact.vector is None or not inside or not fact.holds(NOW):
            continue
        cosine = sum(map(lambda a, b: a * b, vector, fact.vector)) / (
            math.hypot(*vector) * math.hypot(*fact.vector)
        )
        for name in (fact.source, fact.target, *fact.episodes):
            if scopes.get(name) == scope:
                best[name] = max(best.get(name, -1.0), cosine)
    return {name: cosine for name, cosine in best.items() if cosine > 0}


@for_each("seed", range(6))
async def test_the_search_and_plain_python_find_the_same_on_random_graphs(
    empty: Store, seed: int
) -> None:
    rng = random.Random(seed)
    names = [f"N{n}" for n in range(40)] + [f"e{n}" for n in range(20)]
    scopes = {name: rng.choice(["demo", "other"]) for name in names}
    entities, episodes = names[:40], names[40:]
    facts = [
        Fact(
            source=rng.choice(entities),
            target=rng.choice(entities),
            vector=None if rng.random() < 0.1 else [rng.gauss(0, 1) for _ in range(4)],
            episodes=rng.sample([*episodes, "nowhere"], rng.randint(0, 3)),
            begins=rng.choice([None, LONG_AGO, LONG_AGO, LATER]),
            ends=rng.choice([None, None, LATER, OVER]),
        )
        for _ in range(150)
    ]
    mapping = await write(empty, scopes, facts)
    for scope in ("demo", "other"):
        vector = [rng.gauss(0, 1) for _ in range(4)]
        all_of_it = expected(scopes, facts, scope, vector)
        assert len(all_of_it) > 5
        for candidates in (100, 10):  # compared with all, and by the index
            found = await seeds_of(
                empty, mapping, vector, scope=scope, as_of=NOW,
                seeds={"candidates": candidates, "max_seeds": candidates},
            )  # fmt: skip
            best = sorted(all_of_it, key=lambda name: (-all_of_it[name], name))[:candidates]
            scores = {each.id: each.score for each in found.seeds}
            assert set(scores) <= set(all_of_it)
            assert sorted(scores.values(), reverse=True) == pytest.approx(
                [all_of_it[name] for name in best], abs=1e-5
            )
            assert scores == pytest.approx({name: all_of_it[name] for name in scores}, abs=1e-5)


def test_facts_need_no_vector_of_nodes() -> None:
    node = NodeMapping(label="A", key="k", text=("t",))
    edge = EdgeMapping(type="R", embedding="e", vector_index="v")
    assert GraphMapping(nodes=(node,), edges=(edge,)).has_vectors
    assert not GraphMapping(nodes=(node,), edges=(EdgeMapping(type="R"),)).has_vectors
