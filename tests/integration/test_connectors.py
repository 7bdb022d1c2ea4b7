"""Connectors: sessions, speakers and topics carry energy, and are neither found, ranked nor packed.

The graph: Ada asks m1 and says m2 in one session; Bob answers m3 elsewhere. Of m1 and m3 only the
topic Lisbon tells that they belong together::

    s1 <-in_session 0.5- m1 -mentions 1.0-> lisbon <-mentions 1.0- m3 -said_by 0.2-> bob
    s1 <-in_session 0.5- m2 -said_by 0.2-> ada <-said_by 0.2- m1
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest

from memoria.doctor import fix
from memoria.embed import CallableEmbedder
from memoria.errors import InvalidInputError
from memoria.graph.stats import list_scopes, scope_stats
from memoria.ingest import ingest_files
from memoria.ingest.export import export_lines
from memoria.learn import LearnConfig, Learner
from memoria.learn.link import Linker, SimilarityLinkConfig
from memoria.local import EphemeralNeo4j
from memoria.recall.config import RetrieverConfig
from memoria.recall.context import pack
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies import (
    AnchorSpreading,
    LeakyIntegrateAndFire,
    Strategy,
    Synapse,
    TransferEnergy,
)
from memoria.retriever import GraphRetriever
from memoria.serialize import plain_recall, trace_from
from memoria.store import Store, Target, open_driver
from memoria.types import (
    ForgetReport,
    LinkReport,
    Memory,
    Recall,
    Relation,
    Seed,
    WriteReport,
)
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS
from tests.integration.doctor.test_doctor import by_check, look, run_statement, wipe
from tests.integration.ingest.test_export import memoria

NOW = datetime(2026, 5, 2, 12, tzinfo=UTC)
CONNECTORS = {"s1", "ada", "bob", "lisbon"}
MEMORIES = [
    Memory(id="m1", kind="UserRequest", text="Which hotel shall we book?", created_at=NOW),
    Memory(id="m2", kind="Event", text="It rained all day.", created_at=NOW),
    Memory(id="m3", kind="AgentAnswer", text="The Alfama house was lovely.", created_at=NOW),
]
JOINING = [
    Memory(id="s1", kind="Session", text="Tuesday", created_at=NOW),
    Memory(id="ada", kind="Speaker", text="Ada", created_at=NOW),
    Memory(id="bob", kind="Speaker", text="Bob", created_at=NOW),
    Memory(id="lisbon", kind="Topic", text="Lisbon", created_at=NOW),
]
EDGES = [
    Relation(source="m1", target="s1", relation="in_session", weight=0.5),
    Relation(source="m2", target="s1", relation="in_session", weight=0.5),
    Relation(source="m1", target="ada", relation="said_by", weight=0.2),
    Relation(source="m2", target="ada", relation="said_by", weight=0.2),
    Relation(source="m3", target="bob", relation="said_by", weight=0.2),
    Relation(source="m1", target="lisbon", relation="mentions", weight=1.0),
    Relation(source="m3", target="lisbon", relation="mentions", weight=1.0),
]
STRATEGIES: Sequence[Strategy] = [
    TransferEnergy(),
    TransferEnergy(round_trips="single"),
    LeakyIntegrateAndFire(),
    AnchorSpreading(),
    Synapse(unembedded=0, now=NOW),  # edges fade, and were made then
]
by_strategy = pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda each: each.name)
embedder = CallableEmbedder(
    lambda texts: [[1.0] * DIMENSIONS for _ in texts], dimensions=DIMENSIONS, name="test"
)


@pytest.fixture
async def talk(store: Store, scope: str) -> GraphWriter:
    """A writer of the scope that holds the graph."""
    writer = GraphWriter(store, scope=scope, clock=lambda: NOW)
    await writer.write([*MEMORIES, *JOINING], EDGES)
    return writer


async def nodes(store: Store, scope: str) -> dict[str, dict[str, Any]]:
    """What is stored: id -> labels and the properties that tell connectors from memories."""
    rows = await run_statement(
        store,
        "MATCH (m:Memory {scope: $scope}) RETURN m.id AS id, labels(m) AS labels, m.text AS text, "
        "m.connector_name AS name, m.embedding IS NOT NULL AS embedded, m.linked_at AS linked",
        scope=scope,
    )
    return {
        row["id"]: {
            "kind": next(label for label in row["labels"] if label != "Memory"),
            **{key: row[key] for key in ("text", "name", "embedded", "linked")},
        }
        for row in rows
    }


def shown(recall: Recall) -> dict[str, set[str]]:
    """Every place where only memories may stand."""
    return {
        "seeds": {seed.id for seed in (*recall.seeds.seeds, *recall.seeds.runners_up)},
        "hits": {hit.seed_id for hit in recall.hits},
        "ranked": {entry.memory.id for entry in recall.ranked},
        "packed": {item.id for item in recall.context.items},
        "omitted": {item.id for item in recall.context.omitted},
        "activated": {each.id for found in recall.explorations for each in found.activations},
    }


@by_strategy
@pytest.mark.parametrize("relevance", ["default", None])
@pytest.mark.usefixtures("talk")
async def test_an_answer_that_only_a_topic_leads_to_is_found_and_the_topic_is_no_result(
    retriever: GraphRetriever, strategy: Strategy, relevance: str | None
) -> None:
    config = RetrieverConfig(strategy=strategy)
    if relevance is None:
        config = RetrieverConfig(strategy=strategy, relevance=None)
    found = await retriever.recall("hotel", config=config)
    places = shown(found)
    assert places["seeds"] == {"m1"}
    assert {"m1", "m3"} <= places["ranked"]
    assert {"m1", "m3"} <= places["packed"]
    assert not CONNECTORS & set().union(*places.values())
    (way,) = [path for each in found.explorations for path in each.paths if "m3" in path.ids]
    assert way.ids[:3] == ("m1", "lisbon", "m3")
    assert [memory.text for memory in way.memories][1] == "Lisbon"
    assert "lisbon" not in [item.id for item in found.context.items]
    assert found.trace.contributed["packed"] == len(places["packed"] - {"m1"})
    assert found.trace.contributed["reached"] == len(places["ranked"] - {"m1"})


@pytest.mark.usefixtures("talk")
async def test_energy_passes_through_a_connector_as_through_a_memory(
    retriever: GraphRetriever,
) -> None:
    (found,) = [each async for each in retriever.explore_seeds([Seed(id="m1", score=1.0)])]
    way = next(path for path in found.paths if "m3" in path.ids)
    # m1 has three edges, the topic two: 1 * 1 / sqrt(3), then that * 1 / sqrt(2).
    assert [hop.energy_out for hop in way.hops[:2]] == pytest.approx([3**-0.5, 6**-0.5])


@pytest.mark.parametrize("round_trips", ["level", "single"])
async def test_a_connector_that_joins_nothing_else_takes_no_branch(
    store: Store, retriever: GraphRetriever, scope: str, round_trips: Literal["level", "single"]
) -> None:
    near = [Memory(id=f"n{n}", kind="Event", text=f"near {n}") for n in range(2)]
    topics = [Memory(id=f"a{n}", kind="Topic", text=f"topic {n}") for n in range(5)]
    writer = GraphWriter(store, scope=scope)
    await writer.write(
        [MEMORIES[0], *near, *topics],
        [Relation(source="m1", target=each.id, weight=1.0) for each in (*near, *topics)]
        + [Relation(source="n1", target="a4", weight=1.0)],
    )
    config = RetrieverConfig(strategy=TransferEnergy(round_trips=round_trips))
    seeds = [Seed(id="m1", score=1.0)]
    (found,) = [each async for each in retriever.explore_seeds(seeds, config=config)]
    assert {path.ids for path in found.paths} == {("m1", "a4"), ("m1", "n0"), ("m1", "n1")}
    (edge,) = {path.hops[0].energy_out for path in found.paths}
    assert edge == pytest.approx(7**-0.5)  # all seven edges count in the degree


@by_strategy
@pytest.mark.usefixtures("talk")
async def test_a_connector_may_be_the_seed_where_it_is_named(
    retriever: GraphRetriever, strategy: Strategy
) -> None:
    config = RetrieverConfig(strategy=strategy)
    seeds = [Seed(id="lisbon", score=1.0)]
    (found,) = [each async for each in retriever.explore_seeds(seeds, config=config)]
    assert found.status == "complete"
    reached = {path.ids[:2] for path in found.paths}
    assert {("lisbon", "m1"), ("lisbon", "m3")} <= reached
    assert "lisbon" not in {each.id for each in found.activations}
    context = pack([found], budget_tokens=500)
    assert {"m1", "m3"} <= {item.id for item in context.items} <= {"m1", "m2", "m3"}
    assert '"Lisbon"' not in context.text


@by_strategy
async def test_a_seed_that_only_connectors_stand_beside_is_packed_alone(
    store: Store, retriever: GraphRetriever, scope: str, strategy: Strategy
) -> None:
    await GraphWriter(store, scope=scope).write(
        [MEMORIES[0], JOINING[0], JOINING[3]],
        [EDGES[0], EDGES[5], Relation(source="s1", target="lisbon", weight=1.0)],
    )
    found = await retriever.recall("hotel", config=RetrieverConfig(strategy=strategy))
    assert [entry.memory.id for entry in found.ranked] == ["m1"]
    assert [item.id for item in found.context.items] == ["m1"]
    assert found.context.omitted == ()
    assert found.context.text.endswith("Which hotel shall we book?")
    assert found.trace.contributed == {"reached": 0, "only_reached": 0, "packed": 0}


async def test_a_larger_connector_leads_nowhere_where_energy_is_not_divided(
    retriever: GraphRetriever, talk: GraphWriter
) -> None:
    said = [Memory(id=f"x{n:02}", kind="Event", text=f"number {n}") for n in range(59)]
    await talk.write(
        said, [Relation(source=each.id, target="lisbon", relation="mentions") for each in said]
    )
    for strategy in (LeakyIntegrateAndFire(), AnchorSpreading()):
        config = RetrieverConfig(strategy=strategy)
        seeds = [Seed(id="m1", score=1.0)]
        (found,) = [each async for each in retriever.explore_seeds(seeds, config=config)]
        ends = {path.ids[-1] for path in found.paths}
        assert "m3" not in ends, "the topic has 61 edges, one more than are followed both ways"
    await talk.forget(["x00"])
    for strategy in (LeakyIntegrateAndFire(), AnchorSpreading()):
        config = RetrieverConfig(strategy=strategy)
        (found,) = [each async for each in retriever.explore_seeds(seeds, config=config)]
        assert "m3" in {path.ids[-1] for path in found.paths}


async def test_the_name_of_a_connector_finds_nothing_by_any_search(
    store: Store, scope: str, driver: Any
) -> None:
    writer = GraphWriter(store, scope=scope, embedder=embedder)
    await writer.write([*MEMORIES, *JOINING], EDGES)
    retriever = GraphRetriever(driver, scope=scope, embedder=embedder)
    found = await retriever.find_seeds("Lisbon Ada Bob Tuesday")
    assert {each.id for each in (*found.seeds, *found.runners_up)} == {"m1", "m2", "m3"}
    assert {each.text_rank for each in (*found.seeds, *found.runners_up)} == {None}
    by_kind = await retriever.find_seeds("Lisbon", kinds=["Topic"])
    assert by_kind.seeds == by_kind.runners_up == ()
    config = RetrieverConfig(seeds=SeedConfig(unembedded=10))
    words = GraphRetriever(driver, scope=scope)
    assert (await words.find_seeds("Lisbon", config=config)).seeds == ()


async def test_a_connector_is_stored_with_its_name_and_without_text_or_vector(
    store: Store, scope: str
) -> None:
    writer = GraphWriter(store, scope=scope, embedder=embedder, kinds=["Event"])
    topic = Memory(id="t", kind="Topic", text="Lisbon", embedding=[0.5] * DIMENSIONS)
    report = await writer.write([topic, Memory(id="e", kind="Event", text="A trip.")])
    assert (report.memories, report.memories_created, report.embedded) == (2, 2, 1)
    stored = await nodes(store, scope)
    assert stored["t"] == {
        "kind": "Topic",
        "text": None,
        "name": "Lisbon",
        "embedded": False,
        "linked": None,
    }
    assert stored["e"] == {**stored["e"], "text": "A trip.", "name": None, "embedded": True}
    again = await writer.write([Memory(id="t", kind="Topic", text="Lisboa")])
    assert (again.memories, again.memories_created, again.embedded) == (1, 0, 0)
    assert (await nodes(store, scope))["t"]["name"] == "Lisboa"
    with pytest.raises(InvalidInputError, match="kind must be one of Event, Session, Speaker"):
        await writer.write([Memory(id="n", kind="Note", text="n")])


async def test_a_node_changes_between_memory_and_connector(store: Store, scope: str) -> None:
    linker = Linker(store, scope=scope)
    writer = GraphWriter(store, scope=scope, embedder=embedder, linker=linker)
    await writer.write([Memory(id="x", kind="Event", text="Lisbon")])
    assert (await nodes(store, scope))["x"]["linked"] is not None
    as_topic = await writer.write([Memory(id="x", kind="Topic", text="Lisbon")])
    assert as_topic == WriteReport(memories=1)
    expected = {"kind": "Topic", "text": None, "name": "Lisbon", "embedded": False, "linked": None}
    assert (await nodes(store, scope))["x"] == expected
    as_memory = await writer.write([Memory(id="x", kind="Event", text="Lisbon")])
    assert (as_memory.memories_created, as_memory.embedded, as_memory.linked) == (0, 1, 1)
    stored = (await nodes(store, scope))["x"]
    assert (stored["kind"], stored["text"], stored["name"]) == ("Event", "Lisbon", None)


@pytest.mark.usefixtures("talk")
async def test_connectors_are_neither_embedded_nor_linked(store: Store, scope: str) -> None:
    later = GraphWriter(store, scope=scope, embedder=embedder)
    assert await later.count_unembedded() == 3
    assert await later.count_unembedded(["Topic"]) == 0
    assert await later.backfill_embeddings() == 3
    assert await later.count_unembedded() == 0
    config = SimilarityLinkConfig()
    report = await Linker(store, scope=scope, config=config).link()
    assert report == LinkReport(memories=3, edges=3, edges_created=3)
    assert await Linker(store, scope=scope, config=config).link(["lisbon"]) == LinkReport()
    rows = await run_statement(
        store,
        "MATCH (m:Memory {scope: $scope})-[:RELATES {relation: 'similar'}]-() "
        "RETURN collect(DISTINCT m.id) AS ids",
        scope=scope,
    )
    assert set(rows[0]["ids"]) == {"m1", "m2", "m3"}


@pytest.mark.usefixtures("talk")
async def test_edges_of_connectors_learn_and_no_pair_with_one_is_counted(
    store: Store, retriever: GraphRetriever, scope: str
) -> None:
    found = await retriever.recall("hotel")
    trace = trace_from(json.loads(json.dumps(plain_recall(found))))
    learner = Learner(store, scope=scope, config=LearnConfig(co_activations=1))
    assert (await learner.reinforce(trace, ["m3"])).edges == 2  # m1 - lisbon - m3
    with pytest.raises(InvalidInputError, match="1 id that the recall of the trace did not find"):
        await learner.reinforce(trace, ["lisbon"])
    await learner.co_activate(trace)
    rows = await run_statement(
        store,
        "MATCH (a:Memory {scope: $scope})-[:RELATES {relation: 'co_activated'}]->(b) "
        "RETURN collect([a.id, b.id]) AS pairs",
        scope=scope,
    )
    joined = {end for pair in rows[0]["pairs"] for end in pair}
    assert joined
    assert not joined & CONNECTORS


@pytest.mark.usefixtures("talk")
async def test_stats_count_connectors_apart(store: Store, scope: str, target: Target) -> None:
    found = await scope_stats(store, scope)
    assert found.memories == 3
    assert found.kinds == {"AgentAnswer": 1, "Event": 1, "UserRequest": 1}
    assert found.connectors == {"Speaker": 2, "Session": 1, "Topic": 1}
    assert (found.edges, found.embedded) == (7, 0)
    assert found.mean_degree == pytest.approx(7 / 3)  # m1 has 3, m2 and m3 have 2
    assert found.max_degree == 3
    (size,) = [each for each in await list_scopes(store) if each.scope == scope]
    assert (size.memories, size.edges) == (3, 7)
    printed = memoria("stats", "--scope", scope, target=target).stdout.decode().splitlines()
    assert "connectors         4" in printed
    assert printed[printed.index("connector  number") :][:2] == [
        "connector  number",
        "Speaker         2",
    ]
    facts = json.loads(memoria("stats", "--scope", scope, "--json", target=target).stdout)
    assert facts["connectors"] == {"Speaker": 2, "Session": 1, "Topic": 1}


@pytest.mark.usefixtures("talk")
async def test_an_export_and_its_ingest_keep_connectors(
    store: Store, scope: str, tmp_path: Path
) -> None:
    lines = [line async for line in export_lines(store, scope=scope)]
    topic = (
        '{"id":"lisbon","kind":"Topic","text":"Lisbon","created_at":"2026-05-02T12:00:00+00:00"}'
    )
    assert topic in lines
    file = tmp_path / "scope.jsonl"
    file.write_text("\n".join(lines), "utf-8")
    elsewhere = f"{scope}-elsewhere"
    report = await ingest_files(GraphWriter(store, scope=elsewhere, embedder=embedder), [str(file)])
    assert (report.written.memories_created, report.written.embedded) == (7, 3)
    again = [line async for line in export_lines(store, scope=elsewhere, embeddings=False)]
    assert again == lines
    there = await nodes(store, elsewhere)
    assert {id_ for id_, each in there.items() if each["name"] is not None} == CONNECTORS


@pytest.mark.usefixtures("talk")
async def test_the_doctor_counts_connectors_apart_and_misses_nothing_on_them(
    store: Store, scope: str
) -> None:
    await GraphWriter(store, scope=scope, embedder=embedder).backfill_embeddings()
    found = by_check(await look(store, scope))
    assert found["memories.present"].message == f"3 memories and 4 connectors in scope {scope!r}"
    assert {name for name, each in found.items() if each.severity != "ok"} <= {"server.dialect"}


async def test_what_a_forgotten_memory_alone_joined_goes_with_it(
    store: Store, talk: GraphWriter, scope: str
) -> None:
    assert await talk.forget(["m3"]) == ForgetReport(deleted=1, connectors=1)
    assert (await nodes(store, scope)).keys() == {"m1", "m2", "s1", "ada", "lisbon"}
    # Lisbon was joined to m1, too. The next one leaves nothing that it could join.
    assert await talk.forget(["m1"]) == ForgetReport(deleted=1, connectors=1)
    assert (await nodes(store, scope)).keys() == {"m2", "s1", "ada"}
    assert await talk.forget(["m2", "s1"]) == ForgetReport(deleted=2, connectors=1)
    assert await nodes(store, scope) == {}


async def test_connectors_that_join_only_each_other_go_with_the_last_memory(
    store: Store, scope: str
) -> None:
    writer = GraphWriter(store, scope=scope)
    topics = [Memory(id=f"s{n}", kind="Session", text=f"{n}") for n in (1, 2)]
    await writer.write(
        [MEMORIES[0], MEMORIES[1], *topics],
        [
            Relation(source="m1", target="s1"),
            Relation(source="m2", target="s2"),
            Relation(source="s1", target="s2", relation="next"),
        ],
    )
    assert await writer.forget(["m1"]) == ForgetReport(deleted=1, connectors=1)
    assert await writer.forget(["m2"]) == ForgetReport(deleted=1, connectors=1)
    assert await nodes(store, scope) == {}


async def test_a_connector_that_another_program_uses_stays(
    store: Store, talk: GraphWriter, scope: str
) -> None:
    await run_statement(
        store,
        "MATCH (b:Memory {scope: $scope, id: 'bob'}) CREATE (b)-[:KNOWS]->(:Thing {of: $scope})",
        scope=scope,
    )
    assert await talk.forget(["m3"]) == ForgetReport(deleted=1)
    assert "bob" in await nodes(store, scope)
    found = by_check(await look(store, scope))
    assert found["memories.unused_connector"].severity == "ok"
    await run_statement(store, "MATCH (t:Thing {of: $scope}) DETACH DELETE t", scope=scope)
    found = by_check(await look(store, scope))
    assert found["memories.unused_connector"].examples == ("bob",)


@pytest.mark.parametrize("change", ["joined", "deleted"])
@pytest.mark.parametrize("scoped", [True, False])
async def test_the_doctor_waits_for_who_is_changing_a_connector_and_looks_again(
    second_server: EphemeralNeo4j, scope: str, change: str, *, scoped: bool
) -> None:
    """On a server of its own: without a scope, the remedy is for all."""
    blocked = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"
    statement = {
        "joined": "CREATE (:Memory:Event {scope: $scope, id: 'm4'})-[:RELATES]->(t)",
        "deleted": "DELETE t",
    }[change]
    async with open_driver(
        Target(uri=second_server.uri, auth=second_server.auth, database="neo4j")
    ) as driver:
        lone = Store(driver, database="neo4j")
        await wipe(lone)
        for id_ in ("cintra", "lisbon"):
            await run_statement(
                lone,
                "CREATE (:Memory:Topic {scope: $scope, id: $id, connector_name: $id})",
                scope=scope,
                id=id_,
            )
        async with driver.session() as session, asyncio.timeout(60):
            other = await session.begin_transaction()
            await (
                await other.run(
                    "MATCH (t:Memory {scope: $scope, id: 'lisbon'}) " + statement, scope=scope
                )
            ).consume()
            fixing = asyncio.create_task(
                fix(lone, ["memories.unused_connector"], scope=scope if scoped else None)
            )
            # Until the remedy waits for it; only the server knows when.
            while not fixing.done() and not await run_statement(lone, blocked):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            assert not fixing.done()
            await other.commit()
            await fixing
        left = await run_statement(
            lone, "MATCH (m:Memory) RETURN m.id AS id, m.scope AS scope, COUNT { (m)--() } AS n"
        )
        by_id = {row["id"]: (row["scope"], row["n"]) for row in left}
        assert by_id == ({"lisbon": (scope, 1), "m4": (scope, 1)} if change == "joined" else {})


async def test_edges_of_a_hub_that_go_in_several_transactions_free_connectors_too(
    store: Store, talk: GraphWriter, scope: str
) -> None:
    await run_statement(
        store,
        "MATCH (m:Memory {scope: $scope, id: 'm3'}) MATCH (s:Memory {scope: $scope, id: 'bob'}) "
        "UNWIND range(1, 30000) AS n CREATE (m)-[:RELATES {relation: toString(n)}]->(s)",
        scope=scope,
    )
    assert await talk.forget(["m3"]) == ForgetReport(deleted=1, connectors=1)
    assert (await nodes(store, scope)).keys() == {"m1", "m2", "s1", "ada", "lisbon"}


@pytest.mark.usefixtures("talk")
async def test_the_command_says_which_connectors_went(scope: str, target: Target) -> None:
    done = memoria("forget", "m3", "--scope", scope, "--yes", target=target)
    assert done.stdout.decode() == "forgot m3\nand 1 connector that joined no other memory\n"
    done = memoria("forget", "m1", "--scope", scope, "--yes", "--json", target=target)
    assert json.loads(done.stdout)["connectors"] == 1
    assert memoria("explore", "ada", "--scope", scope, target=target).returncode == 0
