"""Graphs of other programs, read as they are: those of known programs, and broken ones.

The rows of Graphiti and neo4j-graphrag are those that their own writers leave, statement by
statement (graphiti-core 0.31.2, neo4j-graphrag 1.22.0); the libraries themselves are not installed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import neo4j
import pytest

from benchmarks.queries import text_of
from memoria.doctor.plans import explain
from memoria.embed import CallableEmbedder
from memoria.errors import DimensionError, IndexNotReadyError, MappingError, ScopeError
from memoria.evaluation.corpus import Corpus
from memoria.graph.mapping import EdgeMapping, GraphMapping, NodeMapping, WeightOf
from memoria.graph.mapping.checking import fulltext_statement, problems_of, raise_first
from memoria.graph.mapping.creating import create_indexes
from memoria.graph.mapping.database import Index, Inventory, names_of
from memoria.graph.mapping.detecting import detect
from memoria.graph.mapping.examining import examine_mapping
from memoria.graph.server_facts import server_facts
from memoria.recall.config import RetrieverConfig
from memoria.recall.ranking import FactsRequest, ask_facts
from memoria.recall.replay import replay
from memoria.recall.strategies import STRATEGIES, TransferEnergy
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.queries import load, names
from memoria.types import MemoryFilter, Seed
from memoria.types.validity import Validity
from tests.cases.build import HERE, edge, graph
from tests.integration.alone import wipe
from tests.oracle.agreement import write

NOW = datetime(2026, 5, 1, tzinfo=UTC)
GRAPHITI = [
    "CREATE INDEX entity_uuid FOR (n:Entity) ON (n.uuid)",
    "CREATE INDEX episode_uuid FOR (n:Episodic) ON (n.uuid)",
    "CREATE INDEX community_uuid FOR (n:Community) ON (n.uuid)",
    "CREATE FULLTEXT INDEX episode_content FOR (e:Episodic) ON EACH "
    "[e.content, e.source, e.source_description, e.group_id]",
    "CREATE FULLTEXT INDEX node_name_and_summary FOR (n:Entity) ON EACH "
    "[n.name, n.summary, n.group_id]",
    "CREATE FULLTEXT INDEX edge_name_and_fact FOR ()-[e:RELATES_TO]-() ON EACH "
    "[e.name, e.fact, e.group_id]",
]  # fmt: skip
GRAPHITI_ROWS = """
UNWIND $entities AS row
CREATE (n:Entity {uuid: row[0], name: row[0], summary: row[1], group_id: row[2], created_at: $now,
                  name_embedding: [0.1, 0.2]})
WITH count(*) AS made
UNWIND $facts AS row
MATCH (a:Entity {uuid: row[0]}) MATCH (b:Entity {uuid: row[1]})
CREATE (a)-[e:RELATES_TO {uuid: randomUUID(), name: row[2], fact: row[3], group_id: a.group_id,
                          created_at: $now, valid_at: row[4], invalid_at: row[5],
                          expired_at: row[5], episodes: ['m1'], fact_embedding: [0.1, 0.2]}]->(b)
WITH count(*) AS made
CREATE (m:Episodic {uuid: 'm1', name: 'm1', group_id: 'demo', source: 'message', valid_at: $now,
                    content: 'Ada: I started at Globex, and moved to Porto.', created_at: $now})
WITH m MATCH (n:Entity) WHERE n.uuid IN ['Ada', 'Porto', 'Globex']
CREATE (m)-[:MENTIONS {uuid: randomUUID(), group_id: 'demo', created_at: $now}]->(n)
"""
ENTITIES = [
    ["Ada", "An engineer.", "demo"], ["Porto", "A city in Portugal.", "demo"],
    ["Acme", "A maker of anvils.", "demo"], ["Globex", "A maker of globes.", "demo"],
    ["Ada B", "Another engineer.", "other"],
]  # fmt: skip
OLD, END = datetime(2020, 1, 1, tzinfo=UTC), datetime(2025, 12, 1, tzinfo=UTC)
FACTS = [
    ["Ada", "Porto", "LIVES_IN", "Ada lives in Porto", NOW, None],
    ["Ada", "Acme", "WORKS_AT", "Ada works at Acme", OLD, END],
    ["Ada", "Globex", "WORKS_AT", "Ada works at Globex", NOW, None],
    ["Ada", "Ada B", "KNOWS", "Ada knows Ada B", NOW, None],
]
GRAPHRAG = """
CREATE (d:Document:__KGBuilder__ {path: 'ada.txt', createdAt: '2026-05-01'})
CREATE (c:Chunk:__KGBuilder__ {index: 0, text: 'Ada moved to Porto in May.', embedding: [0.6, 0.8]})
CREATE (e:Chunk:__KGBuilder__ {index: 1, text: 'Porto has bridges.', embedding: [0.8, 0.6]})
CREATE (a:Person:__Entity__:__KGBuilder__ {name: 'Ada'})
CREATE (p:City:__Entity__:__KGBuilder__ {name: 'Porto'})
CREATE (c)-[:FROM_DOCUMENT]->(d), (e)-[:FROM_DOCUMENT]->(d), (c)-[:NEXT_CHUNK]->(e)
CREATE (a)-[:FROM_CHUNK]->(c), (p)-[:FROM_CHUNK]->(c), (p)-[:FROM_CHUNK]->(e), (a)-[:LIVES_IN]->(p)
"""
PRINTED = """
UNWIND $rows AS row CREATE (n:$(row[0]) {id: row[1], text: row[2]})
WITH count(*) AS made
UNWIND $edges AS row MATCH (a {id: row[0]}) MATCH (b {id: row[1]})
CREATE (a)-[r:RELATES]->(b) SET r.weight = row[2], r.tags = row[3]
"""


async def run(store: Store, *statements: str, **given: Any) -> None:
    for statement in statements:
        await store.driver.execute_query(statement, given, database_="neo4j")
    await store.driver.execute_query("CALL db.awaitIndexes()", database_="neo4j")


def node(**given: Any) -> NodeMapping:
    return NodeMapping(**({"label": "Film", "key": "title", "text": ("plot",)} | given))


def mapped(*nodes: NodeMapping, **weight: Any) -> GraphMapping:
    return GraphMapping(nodes=nodes or (node(),), edges=(EdgeMapping(type="LIKE", **weight),))


FILMS = """
UNWIND range(1, 5) AS i CREATE (f:Film {title: 'film ' + i, plot: 'plot of number ' + i, year: i})
WITH collect(f) AS films UNWIND range(0, 3) AS i
WITH films[i] AS a, films[i + 1] AS b CREATE (a)-[:LIKE {share: 0.9}]->(b)
"""
KEYS = "CREATE INDEX films FOR (f:Film) ON (f.title)"
WORDS = "CREATE FULLTEXT INDEX plots FOR (f:Film) ON EACH [f.plot]"


@pytest.fixture(scope="module")
async def graphiti(emptied: Store) -> Store:
    """A graph of Graphiti, for tests that only read, and come first."""
    await run(emptied, *GRAPHITI)
    await run(emptied, GRAPHITI_ROWS, entities=ENTITIES, facts=FACTS, now=NOW)
    return emptied


async def test_a_graph_of_graphiti_is_found_explored_ranked_and_packed(graphiti: Store) -> None:
    proposal = await detect(graphiti)
    assert proposal.based_on == "graphiti"
    assert [edge.asked_as for edge in proposal.mapping.edges] == [(), ()]  # facts, and structure
    assert proposal.counts == {
        "(:Entity)": 5, "(:Episodic)": 1, "[:MENTIONS]": 3, "[:RELATES_TO]": 4,
    }  # fmt: skip
    assert [p for p in proposal.problems if p.stops] == []
    assert proposal.scopes == ["demo", "other"]
    assert "# scopes, of which --scope names one: 'demo', 'other'\n" in proposal.toml()
    memory = GraphRetriever(graphiti, scope="demo", mapping=GraphMapping.named("graphiti"))
    found = await memory.recall("Where does Ada work?")
    assert "Ada works at Globex" in found.context.text
    assert "Acme" not in found.context.text  # the fact is over
    reached = {id_ for each in found.explorations for path in each.paths for id_ in path.ids}
    assert reached == {"Ada", "Porto", "Globex", "m1"}
    lives = await memory.recall("lives")  # a word of a fact alone
    assert {seed.id for seed in lives.seeds.seeds} == {"Ada", "Porto", "m1"}
    assert "Ada lives in Porto" in lives.context.text
    over = await memory.recall("anvils Acme")
    assert "Ada works at Acme" not in over.context.text
    earlier = await memory.recall("Where does Ada work?", as_of=datetime(2024, 1, 1, tzinfo=UTC))
    assert "Ada works at Acme" in earlier.context.text
    assert "Globex" not in earlier.context.text
    other = await memory.for_scope("other").recall("Where does Ada work?")
    assert [item.id for item in other.context.items] == ["Ada B"]


async def test_the_server_takes_each_query_of_a_mapped_graph(graphiti: Store) -> None:
    store = GraphRetriever(graphiti, scope="demo", mapping=GraphMapping.named("graphiti")).store
    facts = await server_facts(graphiti)
    rooms = ("strategies", "seeds", "ranking", "recall", "context", "graph", "evaluation")
    of_vectors = {"seeds.vector_search", "seeds.vector_procedure"}  # without an index to ask
    asked = [n for n in names() if n.partition(".")[0] in rooms and n not in of_vectors]
    for query in (load(name) for name in asked):
        as_it_is = query.name in ("graph.components", "graph.indexes")
        if query.mode == "read" and facts.can_run(query) and not as_it_is:
            assert await explain(store, query), query.name


async def test_ranking_and_evaluation_read_the_facts_that_hold_at_their_time(
    graphiti: Store,
) -> None:
    store = GraphRetriever(graphiti, scope="demo", mapping=GraphMapping.named("graphiti")).store
    ids = ["Acme", "Ada", "Globex"]

    async def joined(validity: Validity) -> set[str]:
        request = FactsRequest(scope="demo", validity=validity)
        facts, _ = await ask_facts(store, request, ids, known=ids)
        return {other for other, _, _ in facts.neighbours["Ada"]}

    assert await joined(Validity.now()) == {"Globex"}
    assert await joined(Validity(at=datetime(2024, 1, 1, tzinfo=UTC))) == {"Acme"}
    assert await joined(Validity()) == {"Acme", "Globex"}  # outdated facts were asked for
    edges = await Corpus(store, ["Entity"]).graph("demo")
    assert min(edges.shares) > 0  # a fact that is over has no share


async def test_properties_of_facts_and_entities_come_back_on_request(graphiti: Store) -> None:
    memory = GraphRetriever(graphiti, scope="demo", mapping=GraphMapping.named("graphiti"))
    found = await memory.recall("Where does Ada work?")
    paths = [path for each in found.explorations for path in each.paths if path.hops]
    read = await memory.properties_of(paths, properties=["episodes", "name", "valid_at"])
    facts = {
        hop.relation: edge
        for path, given in zip(paths, read, strict=True)
        for hop, edge in zip(path.hops, given.edges, strict=True)
    }
    assert facts["Ada works at Globex"] == {
        "episodes": ["m1"], "name": "WORKS_AT", "valid_at": "2026-05-01T00:00:00.000000000+00:00",
    }  # fmt: skip
    everything = await memory.properties_of(paths)
    assert "fact_embedding" not in {name for each in everything for e in each.edges for name in e}
    other = await memory.for_scope("other").properties_of(paths)
    assert {name for each in other for part in (*each.nodes, *each.edges) for name in part} == set()


@pytest.fixture(scope="module")
async def index_of_films(emptied: Store) -> None:
    """For tests that follow each other, as others take all indexes away."""
    await wipe(emptied)
    await run(emptied, KEYS)


@pytest.fixture
async def films(emptied: Store, index_of_films: None) -> Store:
    """The films and that index."""
    assert index_of_films is None
    await run(emptied, "MATCH (n) DETACH DELETE n", FILMS)
    return Store(emptied.driver, database="neo4j")


NOTES: list[tuple[str, list[str], GraphMapping, str]] = [
    ("no type", ["MATCH ()-[r]->() DELETE r"], mapped(), "no relationship has the type 'LIKE'"),
    ("nothing to read", ["MATCH (f:Film) REMOVE f.plot"], mapped(),
     "no node that was looked at has any of 'plot'"),
    ("some without key", ["MATCH (f:Film {year: 2}) REMOVE f.title"], mapped(),
     "1 of 5 nodes have no text under 'title', and are not read"),
    ("some without text", ["MATCH (f:Film {year: 2}) REMOVE f.plot"], mapped(),
     "1 of 5 nodes have no text; energy flows through"),
    ("some without scope", ["MATCH (f:Film) WHERE f.year > 1 SET f.s = 'x'"],
     mapped(node(scope="s")), "1 of 5 nodes have no text under 's', so they belong to no scope"),
    ("duplicate keys", ["MATCH (f:Film) WHERE f.year < 3 SET f.title = 'same'"], mapped(),
     "several nodes, such as 'same' .1 node too many.*use a unique property"),
    ("dangling", ["MATCH (f:Film {year: 1}) CREATE (f)-[:LIKE]->(:Else)"], mapped(),
     "1 of 5 relationships lead to a node that is not mapped"),
    ("some without weight", ["MATCH (:Film {year: 1})-[r:LIKE]->() REMOVE r.share"],
     mapped(weight=WeightOf(property="share")), "1 of 4 relationships have no 'share'.*0.01"),
    ("no such text", [], mapped(node(text=("plot", "plto"))),
     r"nodes\[0\].text: this database has no property 'plto', .* text: did you mean 'plot'"),
    ("no such time", [], mapped(node(created_at="yaer")),
     "no property 'yaer', so no time is known: did you mean 'year'"),
    ("no such end", ["MATCH ()-[r:LIKE]->() SET r.until = datetime()"],
     mapped(valid_until="untill"),
     "no property 'untill', so nothing ends by it: did you mean 'until'"),
    ("no such property", [], replace(mapped(), properties=("yaer",)),
     "properties: this database has no property 'yaer', .*: did you mean 'year'"),
    ("text as weight", ["MATCH (:Film {year: 1})-[r:LIKE]->() SET r.share = 'much'"],
     mapped(weight=WeightOf(property="share")), "1 of 4 .* a 'share' that is not a number"),
    ("list as text", ["MATCH (f:Film {year: 1}) SET f.plot = ['a', 'b']"], mapped(), ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("statements", "mapping", "message"), [each[1:] for each in NOTES], ids=[e[0] for e in NOTES]
)
async def test_what_is_read_only_in_part_is_said_and_the_rest_is_read(
    films: Store, statements: list[str], mapping: GraphMapping, message: str
) -> None:
    await run(films, *statements)
    texts = [problem.text for problem in await examine_mapping(films, mapping, limit=1_000)]

    assert (not message and not texts) or any(re.search(message, text) for text in texts)
    memory = GraphRetriever(films, scope="x" if mapping.has_scopes else None, mapping=mapping)
    async with memory.explore_seeds([Seed(id="film 5", score=1.0)]) as stream:
        (one,) = [each async for each in stream]
    assert one.status == "complete"
    listed = (await memory.list()).memories
    assert all(isinstance(each.text, str) for each in listed)


async def test_detect_says_that_it_did_not_look_at_every_label(
    films: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoria.graph.mapping.detecting._MOST_NAMES", 1)
    await run(films, "CREATE (:Actor {name: 'Ada'})-[:PLAYS]->(:Zebra {name: 'Zoe'})")
    proposal = await detect(films)
    assert proposal.mapping.labels == ("Actor",)
    said = f"only 1 of {len((await names_of(films))[0]):,} labels were looked at, the first by name"
    assert said in proposal.toml()


async def test_a_graph_without_scopes_is_one_scope(films: Store) -> None:
    memory = GraphRetriever(films, mapping=mapped())
    assert memory.scope == "default"
    with pytest.raises(ScopeError, match="would separate nothing"):
        memory.for_scope("alice")
    with pytest.raises(ScopeError):
        GraphRetriever(films, mapping=mapped(node(scope="s")))
    with pytest.raises(MappingError, match="mapping must be a GraphMapping, got"):
        GraphRetriever(films, mapping="graphiti")  # type: ignore[arg-type]


async def test_memorias_note_about_a_vector_is_not_a_property_of_the_graph(films: Store) -> None:
    note = "MATCH (f:Film) SET f.memoria_embedding = [1.0, 0.0], f.memoria_embedding_of = 'hash'"
    await run(films, note)
    memory = GraphRetriever(films, mapping=replace(mapped(), properties=True))
    async with memory.explore_seeds([Seed(id="film 1", score=0.9)]) as stream:
        (explored,) = [each async for each in stream]
    shown = [node.metadata for path in explored.paths for node in path.memories]
    stored = await memory.properties_of(explored.paths)
    shown += [properties for each in stored for properties in each.nodes]
    assert {name for properties in shown for name in properties} == {"title", "plot", "year"}


async def test_a_graph_of_neo4j_graphrag_is_read_by_words_and_by_vectors(empty: Store) -> None:
    await run(
        empty,
        GRAPHRAG,
        "CREATE VECTOR INDEX chunks FOR (n:Chunk) ON n.embedding OPTIONS {indexConfig: {"
        "`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}",
    )
    proposal = await detect(empty)
    assert proposal.based_on == "neo4j-graphrag"
    assert {edge.type for edge in proposal.mapping.edges} == {
        "FROM_CHUNK", "FROM_DOCUMENT", "NEXT_CHUNK", "LIVES_IN",
    }  # fmt: skip
    statements: list[str] = []
    assert await create_indexes(empty, proposal.mapping, statements.append) == 2
    assert await create_indexes(empty, proposal.mapping, statements.append) == 0
    chunk, *others = proposal.mapping.nodes
    chunk = replace(chunk, embedding="embedding", vector_index="chunks")
    mapping = replace(proposal.mapping, nodes=(chunk, *others))
    embedder = CallableEmbedder(lambda texts: [[0.6, 0.8] for _ in texts], dimensions=2, name="two")
    memory = GraphRetriever(empty, mapping=mapping, embedder=embedder)
    found = await memory.recall("bridges")
    texts = [item.memory.text for item in found.ranked]
    assert {"Ada moved to Porto in May.", "Porto has bridges."} <= {*texts}
    assert found.seeds.seeds[0].vector_score is not None
    assert "ada.txt" not in texts  # a document only joins its chunks
    wrong = CallableEmbedder(lambda texts: [[1.0] * 3 for _ in texts], dimensions=3, name="three")
    with pytest.raises(DimensionError, match="'chunks' holds 2: use the embedder that made"):
        await GraphRetriever(empty, mapping=mapping, embedder=wrong).recall("bridges")


async def test_the_graph_of_source_001_gives_what_its_printed_query_gives(empty: Store) -> None:
    kinds = ["UserRequest", "UserPreference", "AgentAnswer", "AgentAction", "Event", "DataSource"]
    await run(empty, *(f"CREATE INDEX FOR (n:{kind}) ON (n.id)" for kind in kinds))
    rows = [[kinds[i % 6], f"N{i}", f"memory number {i}"] for i in range(24)]
    edges = [
        [f"N{i}", f"N{(i * 7 + 3) % 24}", 0.25 + (i % 4) / 4, ["stockout", "dairy"][: i % 3]]
        for i in range(24)
        for _ in range(1 + i % 2)
    ]
    await run(empty, PRINTED, rows=rows, edges=edges)
    memory = GraphRetriever(empty, mapping=GraphMapping.named("source-001"))
    tags = ["stockout", "safety_stock"]
    async with memory.explore_seeds([Seed(id="N3", score=0.9)], query_tags=tags) as stream:
        (explored,) = [each async for each in stream]
    first = {path.hops[0].target: path.hops[0] for path in explored.paths if path.hops}
    query = text_of("printed_level").replace("current:Memory", "current")
    records = await empty.driver.execute_query(
        query,
        frontier=[{"node_id": "N3", "activation": 0.9}], visited_ids=["N3"], query_tags=tags,
        query_tags_count=2, tag_sim_floor=0.15, min_threshold=0.005, database_="neo4j",
    )  # fmt: skip
    expected: dict[str, float] = {}
    printed: dict[str, Any] = {}
    for row in records.records:
        expected.setdefault(row["neighbor_id"], row["transfer_energy"])
        printed.setdefault(row["neighbor_id"], (row["neighbor_data"], row["edge_data"]))
    for path, given in zip(explored.paths, await memory.properties_of(explored.paths), strict=True):
        assert len(given.nodes) == len(path.ids) == len(given.edges) + 1
        if path.hops:  # all properties of nodes and edges, as the printed query returns them
            assert (given.nodes[1], given.edges[0]) == printed[path.ids[1]]
    (one, *_) = await memory.properties_of(explored.paths, properties=("weight", "text"))
    assert {*one.nodes[0]} == {"text"}
    assert {*one.edges[0]} == {"weight"}
    assert len(first) == min(3, len(expected)) > 0
    for id_, hop in first.items():
        assert hop.energy_out == pytest.approx(expected[id_], rel=1e-12)
        [found] = [m for path in explored.paths for m in path.memories if m.id == id_][:1]
        assert found.metadata == {"id": id_, "text": found.text}  # all properties come back
    with pytest.raises(MappingError, match=r"neither a full-text nor a vector index.*CREATE FULL"):
        await memory.recall("memory number 3")


async def test_every_strategy_finds_in_a_mapped_copy_what_it_finds_in_memorias_own_graph(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    own = graph(
        edge("s", "a", weight=0.9), edge("a", "b", weight=0.8), edge("b", "c", weight=0.7),
        edge("t", "a", weight=0.6), edge("c", "t", weight=1.0), edge("s", "d", weight=0.3),
    )  # fmt: skip
    await write(driver, {scope: own})
    label = f"Copy{uuid4().hex}"
    await run(
        store,
        f"CREATE INDEX FOR (n:{label}) ON (n.key)",
        f"MATCH (m:Memory {{scope: $s}}) CREATE (n:{label} {{key: m.id, tenant: m.scope}})",
        f"MATCH (m:Memory {{scope: $s}})-[r:RELATES]->(o) MATCH (a:{label} {{key: m.id}}) "
        f"MATCH (b:{label} {{key: o.id}}) CREATE (a)-[e:{label}]->(b) "
        "SET e.w = r.weight, e.about = r.tags, e.says = r.relation",
        s=scope + HERE,
    )
    mapping = GraphMapping(
        nodes=(node(label=label, key="key", scope="tenant", text=("words",)),),
        edges=(
            EdgeMapping(type=label, weight=WeightOf(property="w"), relation="says", tags="about"),
        ),
    )
    seeds = [Seed(id="s", score=1.0), Seed(id="t", score=0.8)]
    for name, strategy in STRATEGIES.items():
        config = RetrieverConfig(strategy=strategy)
        found = []
        for each in (
            GraphRetriever(store, scope=scope + HERE),
            GraphRetriever(store, scope=scope + HERE, mapping=mapping),
        ):
            ended = [one async for one in each.explore_seeds(seeds, config=config)]
            assert [one.error for one in ended] == [None] * len(ended), name
            found.append(
                sorted(
                    (path.seed_id, path.ids, path.energy, path.end_reason)
                    for one in ended
                    for path in one.paths
                )
            )
        assert found[0] == found[1], name
        assert found[0], name


async def test_properties_come_back_and_filters_ask_for_them(empty: Store) -> None:
    await run(empty, FILMS, KEYS, WORDS)
    mapping = replace(mapped(node(fulltext_index="plots")), properties=("year",))
    memory = GraphRetriever(empty, mapping=mapping)
    found = await memory.get(["film 3"])
    assert found.memories[0].metadata == {"year": 3}
    three = await memory.recall("plot of number", where=MemoryFilter(metadata={"year": 3}))
    assert [item.id for item in three.context.items] == ["film 3"]
    none = await memory.recall("plot of number", where=MemoryFilter(metadata={"yaer": 3}))
    assert none.context.items == ()
    assert (
        "the mapping does not read the property 'yaer': add it to properties in the mapping; did "
        "you mean 'year'?" in none.trace.notes
    )
    listed = await memory.list(limit=2)
    assert [each.id for each in listed.memories] == ["film 1", "film 2"]
    assert listed.next == "film 2"
    assert (await memory.neighbours("film 2")).degree == 2
    assert {each.id for each in await memory.recent()} == {f"film {i}" for i in range(1, 6)}


CREW = """
CREATE (f:Film {title: 'Dune', plot: 'Dune: a desert planet'}),
       (g:Film {title: 'Heat', plot: 'Heat: a heist'})
WITH f, g
UNWIND range(1, 9) AS i
CREATE (:Film {title: 'actor ' + i, plot: 'actor ' + i})-[:ACTED_IN]->(f)
WITH DISTINCT f, g
UNWIND range(1, 2) AS i
CREATE (d:Film {title: 'other ' + i, plot: 'other ' + i})-[:DIRECTED]->(f), (d)-[:DIRECTED]->(g)
"""


async def test_a_question_that_names_a_type_gets_all_its_edges(empty: Store) -> None:
    await run(empty, KEYS, WORDS, CREW)
    cast = EdgeMapping(type="ACTED_IN", words=("act", "star"))
    mapping = GraphMapping(
        nodes=(node(fulltext_index="plots"),), edges=(cast, EdgeMapping(type="DIRECTED"))
    )
    memory = GraphRetriever(empty, mapping=mapping)
    others, actors = {f"other {i}" for i in (1, 2)}, {f"actor {i}" for i in range(1, 10)}
    few = await memory.recall("Dune")
    assert few.trace.query_tags == ()
    assert len({*few.trace.packed} - {"Dune"}) == 3  # equal edges: the first by id
    directed = await memory.recall("Who is the director of Dune?")
    assert directed.trace.query_tags == ("DIRECTED",)
    assert {*directed.trace.packed} >= others | {"Heat"}
    ids = [one.id for one in directed.ranked]
    assert ids[0] == "Dune"
    assert {*ids[1:3]} == others
    assert (await replay(memory.store, directed.trace)).identical
    stars = await memory.recall("Who stars in Dune?")
    assert {*stars.trace.packed} >= actors
    assert stars.trace.config["strategy"]["seed_branches"] == 20
    for given in ({"seed_branches": 2}, {"seed_branches": 2, "round_trips": "single"}):
        config = RetrieverConfig(strategy=TransferEnergy(**given))
        narrow = await memory.recall("Who stars in Dune?", config=config)
        assert len(narrow.explorations[0].paths) == 2
    tagged = await memory.recall("Dune", query_tags=["acted-in"])  # given, not asked for
    assert tagged.trace.config["strategy"]["seed_branches"] is None
    silent = replace(mapping, edges=tuple(replace(edge, words=()) for edge in mapping.edges))
    unasked = await GraphRetriever(empty, mapping=silent).recall("Who is the director of Dune?")
    assert unasked.trace.query_tags == ()


@pytest.mark.parametrize("wrong", [{"words": ("in",)}, {"words": ("act",), "relation": "says"}])
def test_words_that_could_never_ask_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(MappingError, match="words"):
        EdgeMapping(type="ACTED_IN", **wrong)


async def test_nothing_is_written_through_a_mapping(empty: Store) -> None:
    await run(empty, FILMS, KEYS, WORDS)
    memory = GraphRetriever(empty, mapping=mapped(node(fulltext_index="plots")))
    for make in (memory.writer, memory.linker, memory.learner, memory.conversations):
        with pytest.raises(MappingError, match="a mapping writes nothing"):
            make()
    await memory.recall("plot of number 3")
    found = await empty.driver.execute_query(
        "MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label, keys(n) AS names"
    )
    assert {row["label"] for row in found.records} == {"Film"}
    assert all({*row["names"]} == {"title", "plot", "year"} for row in found.records)


def vectors(name: str, label: str, size: int, similarity: str = "cosine") -> str:
    config = f"`vector.dimensions`: {size}, `vector.similarity_function`: '{similarity}'"
    return (
        f"CREATE VECTOR INDEX {name} FOR (n:{label}) ON n.e OPTIONS {{indexConfig: {{{config}}}}}"
    )


BROKEN: list[tuple[str, list[str], GraphMapping, str]] = [
    ("no index", [FILMS], mapped(), "no index finds `Film` by 'title'.*CREATE INDEX `memoria_film"),
    ("no label", [FILMS, KEYS], mapped(node(label="Flim")), "did you mean 'Film'"),
    ("no nodes", [], mapped(), "no node of this database is a memory.*no label at all"),
    ("no key", [FILMS, "CREATE INDEX FOR (f:Film) ON (f.uid)"], mapped(node(key="uid")),
     "no node that was looked at has the property 'uid'"),
    ("number as key", [FILMS, "CREATE INDEX FOR (f:Film) ON (f.year)"], mapped(node(key="year")),
     "the key 'year' must be a text, but is INTEGER: use another property, or key = 'elementId'"),
    ("no scope", [FILMS, KEYS], mapped(node(scope="tenant")), "has the property 'tenant'"),
    ("number as scope", [FILMS, KEYS], mapped(node(scope="year")),
     "the scope 'year' must be a text, but is INTEGER"),
    ("no vector index", [FILMS, KEYS], mapped(node(embedding="e", vector_index="v")),
     "there is no index 'v': leave embedding and vector_index out"),
    ("not a vector index", [FILMS, KEYS, WORDS],
     mapped(node(embedding="plot", vector_index="plots")), "is a FULLTEXT index on nodes, not a V"),
    ("not a full-text index", [FILMS, KEYS], mapped(node(fulltext_index="films")),
     "is a RANGE index on nodes, not a FULLTEXT index"),
    ("on relationships", [FILMS, KEYS, "CREATE FULLTEXT INDEX l FOR ()-[r:LIKE]-() ON EACH [r.a]"],
     mapped(node(fulltext_index="l")), "is a FULLTEXT index on relationships, not"),
    ("of another label", [FILMS, KEYS, "CREATE FULLTEXT INDEX o FOR (n:Other) ON EACH [n.plot]"],
     mapped(node(fulltext_index="o")), "the index 'o' covers Other, not Film"),
    ("of another property", [FILMS, KEYS, "CREATE FULLTEXT INDEX o FOR (n:Film) ON EACH [n.title]"],
     mapped(node(fulltext_index="o")), "the index 'o' is on title, not on plot"),
    ("of another name", [FILMS, KEYS, WORDS], mapped(node(fulltext_index="p")),
     "but the index 'plots' covers the same.*set fulltext_index to 'plots'"),
    ("euclidean", [FILMS, KEYS, vectors("v", "Film", 2, "euclidean")],
     mapped(node(embedding="e", vector_index="v")), "compares by euclidean, and memoria by cosine"),
    ("two sizes",
     [FILMS, KEYS, "MATCH (f:Film {year: 5}) CREATE (:Book {title: 'b', plot: 'c'})-[:LIKE]->(f)",
      "CREATE INDEX FOR (n:Book) ON (n.title)",
      vectors("v2", "Film", 2), vectors("v3", "Book", 3)],
     mapped(node(embedding="e", vector_index="v2"),
            node(label="Book", embedding="e", vector_index="v3")),
     "vectors of several sizes"),
    ("second label without index",
     [FILMS, KEYS, "MATCH (f:Film {year: 5}) CREATE (:Book {title: 'b', plot: 'c'})-[:LIKE]->(f)"],
     mapped(node(label=("Film", "Book"))), "no index finds `Book` by 'title'"),
    ("odd names", ["CREATE (:`a ``b`` c` {`k'` : 'x', plot: 'y'})-[:LIKE]->(:Z)"],
     mapped(node(label="a `b` c", key="k'")), "CREATE INDEX `memoria_a__b__c_k_` IF NOT"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("statements", "mapping", "message"),
    [each[1:] for each in BROKEN],
    ids=[each[0] for each in BROKEN],
)
async def test_a_mapping_that_does_not_fit_is_refused_before_any_query(
    empty: Store, statements: list[str], mapping: GraphMapping, message: str
) -> None:
    await run(empty, *statements)
    memory = GraphRetriever(empty, scope="x" if mapping.has_scopes else None, mapping=mapping)
    for call in (memory.get(["film 1"]), memory.recall("plot"), memory.server_facts()):
        with pytest.raises(MappingError, match=message):
            await call
    async with memory.explore_seeds([Seed(id="film 1", score=1.0)]) as stream:
        with pytest.raises(MappingError, match=message):
            [one async for one in stream]


#: Value of a property that tells the end of an edge or a node -> whether it is over in 2026.
TIMES: list[tuple[object, bool]] = [
    (datetime(2025, 1, 1, tzinfo=UTC), True), (datetime(2030, 1, 1, tzinfo=UTC), False),
    (datetime(2025, 1, 1), True), (datetime(2030, 1, 1), False), ("2026-01-01 12:00", False),
    ("2025-01-01T00:00:00+00:00", True), ("2025-01-01", True), ("2030-12-31T00:00:00Z", False),
    ("", False), ("soon", False), ("2025", False), (2025, False), (True, False), (["2025"], False),
    (None, False),
]  # fmt: skip


async def test_times_may_be_texts_and_other_values_end_nothing(empty: Store) -> None:
    await run(empty, KEYS, "CREATE (:Film {title: 'film', plot: 'a film'})")
    for n, (time, _) in enumerate(TIMES):
        await run(
            empty,
            "MATCH (f:Film {title: 'film'}) "
            f"CREATE (f)-[:LIKE {{ends: $time}}]->(:Film {{title: 'edge {n}'}}), "
            f"(f)-[:LIKE]->(:Film {{title: 'node {n}', ends: $time}}), "
            f"(f)-[:LIKE {{begins: $time}}]->(:Film {{title: 'new {n}'}}), "
            f"(f)-[:LIKE]->(:Film {{title: 'made {n}', made: $time}})",
            time=time,
        )
    like = EdgeMapping(type="LIKE", valid_from="begins", valid_until=("ends",))
    mapping = GraphMapping(nodes=(node(valid_until="ends", created_at="made"),), edges=(like,))
    config = RetrieverConfig(
        strategy=TransferEnergy(max_branches=100),
        as_of=datetime(2026, 1, 1, tzinfo=UTC),
    )
    memory = GraphRetriever(empty, mapping=mapping, config=config)
    async with memory.explore_seeds([Seed(id="film", score=1.0)]) as stream:
        (one,) = [each async for each in stream]
    now = {id_ for path in one.paths for id_ in path.ids}
    for n, (time, over) in enumerate(TIMES):
        assert (f"edge {n}" in now, f"node {n}" in now) == (not over, not over), time
        later = str(time)[:4] == "2030" or time == "2026-01-01 12:00"
        assert (f"new {n}" in now) == (not later), time
        assert (f"made {n}" in now) == (not later or isinstance(time, str)), time


def test_an_index_that_is_being_populated_is_waited_for() -> None:
    mapping = mapped(node(fulltext_index="plots"))
    assert fulltext_statement("plots", mapping).startswith("CREATE FULLTEXT INDEX `plots`")

    index = Index(
        name="plots", state="POPULATING", type="FULLTEXT", entity="NODE", labels=("Film",),
        properties=("plot",), dimensions=None, similarity=None,
    )  # fmt: skip
    keys = replace(index, name="films", state="ONLINE", type="RANGE", properties=("title",))
    there = Inventory(labels={"Film": 5}, types={"LIKE": 4}, indexes=(keys, index))
    with pytest.raises(IndexNotReadyError, match="is being populated: wait"):
        raise_first(problems_of(mapping, there))
    failed = replace(there, indexes=(keys, replace(index, state="FAILED")))
    with pytest.raises(MappingError, match="is FAILED: drop it"):
        raise_first(problems_of(mapping, failed))


async def test_detect_proposes_a_mapping_of_a_graph_of_its_own_kind(
    empty: Store, tmp_path: Path
) -> None:
    await run(empty, FILMS, KEYS)
    proposal = await detect(empty)
    assert proposal.based_on is None
    assert proposal.mapping.nodes[0].labels == ("Film",)
    assert proposal.mapping.nodes[0].key == "title"
    assert proposal.mapping.properties == ("year",)
    assert re.fullmatch(r"film (\d): plot of number \1", proposal.samples["Film"])
    file = tmp_path / "graph.toml"
    file.write_text(proposal.toml())
    mapping = GraphMapping.load(file)
    assert await create_indexes(empty, mapping, lambda _: None) == 1
    found = await GraphRetriever(empty, mapping=mapping).recall("plot of number 4")
    assert found.context.items[0].id == "film 4"
    assert found.ranked[0].memory.metadata == {"year": 4}


async def test_detect_says_that_there_is_nothing(empty: Store) -> None:
    with pytest.raises(MappingError, match="it is empty, or holds memoria's own graph"):
        await detect(empty)
    await run(empty, "CREATE (:Dot {x: 1})-[:TO]->(:Dot {x: 2})")
    with pytest.raises(MappingError, match="no node of this database has a property with a text"):
        await detect(empty)


async def test_of_parallel_edges_the_properties_are_those_of_the_edge_that_was_valid(
    empty: Store,
) -> None:
    await run(
        empty, KEYS,
        "CREATE (a:Film {title: 'a'}), (b:Film {title: 'b'}), "
        "(a)-[:LIKE {since: $old, until: $end, as: 'a pupil'}]->(b), "
        "(a)-[:LIKE {since: $new, as: 'a teacher'}]->(b)",
        old=OLD, end=END, new=NOW,
    )  # fmt: skip
    like = EdgeMapping(type="LIKE", valid_from="since", valid_until=("until",))
    mapping = GraphMapping(nodes=(node(),), edges=(like,))
    for as_of, said in ((datetime(2024, 1, 1, tzinfo=UTC), "a pupil"), (NOW, "a teacher")):
        config = replace(RetrieverConfig(), as_of=as_of)
        memory = GraphRetriever(empty, mapping=mapping, config=config)
        async with memory.explore_seeds([Seed(id="a", score=1.0)]) as stream:
            (one,) = [each async for each in stream]
        stored = await memory.properties_of(one.paths, properties=["as"], as_of=as_of)
        assert [edge for each in stored for edge in each.edges] == [{"as": said}]
