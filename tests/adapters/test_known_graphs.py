"""Graphs of known libraries: each library writes its own, and memoria reads it as it is.

Language models are left out: entities and facts are given. The server has no APOC; its procedures
are written in plain Cypher (`without_apoc`), with the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk
from langchain_core.documents import Document
from langchain_neo4j import Neo4jGraph
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship
from llama_index.core.graph_stores.types import ChunkNode
from llama_index.core.graph_stores.types import EntityNode as LlamaEntity
from llama_index.core.graph_stores.types import Relation as LlamaRelation
from llama_index.graph_stores.neo4j import Neo4jPropertyGraphStore
from neo4j_agent_memory import MemoryClient, MemorySettings
from neo4j_agent_memory.config.settings import Neo4jConfig
from pydantic import SecretStr

import memoria.sync
from memoria.embed import CallableEmbedder
from memoria.graph.mapping import GraphMapping
from memoria.graph.mapping.creating import create_indexes
from memoria.graph.mapping.detecting import detect
from memoria.graph.mapping.examining import examine_mapping
from memoria.integrations.langchain import MemoriaRetriever as LangChainRetriever
from memoria.integrations.llama_index import MemoriaRetriever as LlamaIndexRetriever
from memoria.local import EphemeralNeo4j
from memoria.recall.config import RetrieverConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store

pytestmark = pytest.mark.xdist_group("known graphs")

CHUNK = "Ada moved to Porto in May."
LONG_AGO, OVER = datetime(2020, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 5, 1, tzinfo=UTC)
VECTOR = [0.6, 0.8]
WITHOUT_APOC = (
    (r"CALL apoc\.create\.addLabels\((\w+), \[([\w.]+)\]\)\s*YIELD node", r"SET \1:$(\2)"),
    (r"apoc\.map\.clean\(([\w.]+), \[\], \[\]\)", r"\1"),
    (
        r"CALL apoc\.merge\.relationship\((\w+), ([\w.]+), \{\}, ([\w.]+), (\w+)\) YIELD rel",
        r"MERGE (\1)-[rel:$(\2)]->(\4) SET rel += \3",
    ),
)


def without_apoc(query: str) -> str:
    for pattern, plain in WITHOUT_APOC:
        query = re.sub(pattern, plain, query)
    return query


async def write_graphiti(server: EphemeralNeo4j) -> None:
    class Same(EmbedderClient):
        async def create(self, input_data: Any) -> list[float]:  # noqa: ARG002
            return VECTOR

    class NoModel(LLMClient):
        async def _generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
            raise AssertionError("nodes and facts are given, so no model is asked")

    class NoRanker(CrossEncoderClient):
        async def rank(self, *_: Any, **__: Any) -> list[tuple[str, float]]:
            raise AssertionError("nothing is searched, so nothing is ranked")

    own: dict[str, Any] = {"group_id": "demo", "created_at": NOW}
    named = {
        name: EntityNode(name=name, summary=summary, name_embedding=VECTOR, **own)
        for name, summary in (("Ada", "An engineer."), ("Porto", "A city."), ("Acme", "A maker."))
    }

    def fact(
        target: str, name: str, text: str, vector: list[float], ended: datetime | None = None
    ) -> EntityEdge:
        return EntityEdge(
            source_node_uuid=named["Ada"].uuid, target_node_uuid=named[target].uuid, name=name,
            fact=text, fact_embedding=vector, episodes=["e1"], valid_at=LONG_AGO,
            invalid_at=ended, expired_at=ended, **own,
        )  # fmt: skip

    episode = EpisodicNode(
        uuid="e1", name="e1", source=EpisodeType.message, source_description="chat", content=CHUNK,
        valid_at=NOW, **own,
    )  # fmt: skip
    facts = [
        fact("Porto", "LIVES_IN", "Ada lives in Porto", [0.8, 0.6]),
        fact("Acme", "WORKS_AT", "Ada works at Acme", [0.6, 0.8], OVER),
    ]
    mentions = [
        EpisodicEdge(source_node_uuid="e1", target_node_uuid=node.uuid, **own)
        for name, node in named.items()
        if name != "Acme"
    ]
    memory = Graphiti(
        server.uri, *server.auth, llm_client=NoModel(LLMConfig(api_key="none")), embedder=Same(),
        cross_encoder=NoRanker(),
    )  # fmt: skip
    await memory.build_indices_and_constraints()
    await add_nodes_and_edges_bulk(
        memory.driver, [episode], mentions, [*named.values()], facts, memory.embedder
    )
    await memory.close()


async def write_langchain(server: EphemeralNeo4j) -> None:
    class WithoutApoc(Neo4jGraph):
        def query(self, query: str, params: Any = None, **more: Any) -> Any:
            return super().query(without_apoc(query), params or {}, **more)

        def refresh_schema(self) -> None:
            self.schema = ""

    user, password = server.auth
    ada, porto = Node(id="Ada", type="Person"), Node(id="Porto", type="City")
    document = GraphDocument(
        nodes=[ada, porto],
        relationships=[Relationship(source=ada, target=porto, type="LIVES_IN")],
        source=Document(page_content=CHUNK, metadata={"id": "c1"}),
    )
    with WithoutApoc(server.uri, user, password, refresh_schema=False) as graph:
        graph.add_graph_documents([document], include_source=True, baseEntityLabel=True)


async def write_llama_index(server: EphemeralNeo4j) -> None:
    class WithoutApoc(Neo4jPropertyGraphStore):
        def structured_query(self, query: str, param_map: Any = None) -> Any:
            return super().structured_query(without_apoc(query), param_map)

    user, password = server.auth
    store = WithoutApoc(user, password, server.uri, refresh_schema=False)
    found_in = {"triplet_source_id": "c1"}
    ada = LlamaEntity(name="Ada", label="Person", properties=dict(found_in), embedding=VECTOR)
    porto = LlamaEntity(name="Porto", label="City", properties=dict(found_in), embedding=VECTOR)
    try:
        store.upsert_nodes([ChunkNode(text=CHUNK, id_="c1", embedding=VECTOR), ada, porto])
        lives_in = LlamaRelation(label="LIVES_IN", source_id=ada.id, target_id=porto.id)
        store.upsert_relations([lives_in])
    finally:
        store.close()
        await store._async_driver.close()


async def write_agent_memory(server: EphemeralNeo4j) -> None:
    class Same:
        dimensions = 2

        async def embed(self, text: str) -> list[float]:  # noqa: ARG002
            return VECTOR

        async def embed_batch(self, texts: list[str]) -> list[list[float]]:
            return [VECTOR for _ in texts]

    user, password = server.auth
    place = Neo4jConfig(uri=server.uri, username=user, password=SecretStr(password))
    alone: dict[str, Any] = {
        "resolve": False, "deduplicate": False, "geocode": False, "enrich": False,
    }  # fmt: skip
    async with MemoryClient(MemorySettings(neo4j=place), embedder=Same()) as client:
        await client.short_term.add_message("s1", "user", CHUNK, extract_entities=False)
        ada, _ = await client.long_term.add_entity("Ada", "PERSON", **alone)
        porto, _ = await client.long_term.add_entity("Porto", "LOCATION", **alone)
        acme, _ = await client.long_term.add_entity("Acme", "ORGANIZATION", **alone)
        add = client.long_term.add_relationship
        await add(ada, porto, "LIVES_IN", description="Ada lives in Porto")
        await add(ada, acme, "WORKS_AT", description="Ada works at Acme", valid_until=OVER)
        await client.long_term.add_fact("Ada", "speaks", "Portuguese")
        await client.long_term.add_fact("Ada", "drives", "a tram", valid_until=OVER)


@dataclass(frozen=True, kw_only=True)
class Known:
    """A library: the name of its mapping, its writer, and the texts that are found."""

    write: Callable[[EphemeralNeo4j], Awaitable[None]]
    name: str
    #: How a hop from Ada to Porto reads.
    relation: str
    #: Of what is over: by a fact of the library.
    over: str | None = None


LIBRARIES = [
    Known(name="graphiti", write=write_graphiti, relation="Ada lives in Porto", over="Acme"),
    Known(name="langchain", write=write_langchain, relation="LIVES_IN"),
    Known(name="llama-index", write=write_llama_index, relation="LIVES_IN"),
    Known(
        name="neo4j-agent-memory",
        write=write_agent_memory,
        relation="Ada lives in Porto",
        over="Acme",
    ),
]


@pytest.mark.parametrize("known", LIBRARIES, ids=[known.name for known in LIBRARIES])
async def test_what_a_library_wrote_is_read_as_it_is(
    known: Known, empty: Store, second_server: EphemeralNeo4j, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHITI_TELEMETRY_ENABLED", "false")
    await known.write(second_server)
    proposal = await detect(empty)
    assert proposal.based_on == known.name
    await create_indexes(empty, proposal.mapping, lambda _: None)
    assert [
        p.text for p in await examine_mapping(empty, proposal.mapping, limit=100) if p.stops
    ] == []
    scope = "demo" if proposal.mapping.has_scopes else None

    asked = GraphRetriever(empty, scope=scope, mapping=GraphMapping.named(known.name))
    assert CHUNK in (await asked.recall("Who moved?")).context.text

    memory = GraphRetriever(empty, scope=scope, mapping=proposal.mapping)
    found = await memory.recall("Ada")
    hops = {hop.relation for each in found.explorations for path in each.paths for hop in path.hops}
    assert known.relation in hops
    texts = [item.memory.text or "" for item in found.ranked]
    assert any(text.startswith("Porto") for text in texts)
    if known.over is not None:  # what is over carries nothing, unless its time is asked for
        assert not any(known.over in hop for hop in hops)
        then = await memory.recall("Ada", as_of=datetime(2024, 1, 1, tzinfo=UTC))
        paths = [path for each in then.explorations for path in each.paths]
        assert any(known.over in hop.relation for path in paths for hop in path.hops)


async def test_facts_of_graphiti_are_found_by_their_vectors(
    empty: Store, second_server: EphemeralNeo4j, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHITI_TELEMETRY_ENABLED", "false")
    await write_graphiti(second_server)
    proposal, statements = await detect(empty), list[str]()
    await create_indexes(empty, proposal.mapping, statements.append)
    [made] = statements
    assert made.startswith("CREATE VECTOR INDEX `fact_embedding`")
    assert (await detect(empty)).problems == []

    embedder = CallableEmbedder(lambda texts: [VECTOR for _ in texts], dimensions=2, name="same")
    for mapping in (proposal.mapping, GraphMapping.named("graphiti")):
        memory = GraphRetriever(empty, scope="demo", mapping=mapping, embedder=embedder)

        async def found(memory: GraphRetriever, **when: datetime) -> dict[str, float | None]:
            seeds = (await memory.find_seeds("zzz", config=RetrieverConfig(**when))).seeds
            read = {each.id: each for each in (await memory.get([s.id for s in seeds])).memories}
            return {read[seed.id].text or "": seed.vector_score for seed in seeds}

        near, exact = pytest.approx(0.96, abs=1e-5), pytest.approx(1.0, abs=1e-5)
        now = {"Ada: An engineer.": near, "Porto: A city.": near, CHUNK: near}
        assert await found(memory) == now
        assert await found(memory, as_of=datetime(2024, 1, 1, tzinfo=UTC)) == {
            "Ada: An engineer.": exact, "Acme: A maker.": exact, "Porto: A city.": near,
        }  # fmt: skip
        assert await found(memory.for_scope("other")) == {}


async def test_a_fact_of_agent_memory_that_is_over_is_not_found(
    empty: Store, second_server: EphemeralNeo4j
) -> None:
    await write_agent_memory(second_server)
    mapping = (await detect(empty)).mapping
    await create_indexes(empty, mapping, lambda _: None)
    memory = GraphRetriever(empty, mapping=mapping)
    found = [item.memory.text for item in (await memory.recall("Ada drives, Ada speaks")).ranked]
    assert "Ada: speaks: Portuguese" in found
    assert "Ada: drives: a tram" not in found


async def test_adapters_read_through_a_mapping(empty: Store, second_server: EphemeralNeo4j) -> None:
    await write_langchain(second_server)
    mapping = (await detect(empty)).mapping
    await create_indexes(empty, mapping, lambda _: None)
    with memoria.sync.connect(second_server.uri, second_server.auth, mapping=mapping) as mapped:
        documents = LangChainRetriever(retriever=mapped).invoke("Who moved?")
        assert documents[0].page_content == CHUNK
        nodes = LlamaIndexRetriever(mapped).retrieve("Who moved?")
        assert nodes[0].get_content() == CHUNK
