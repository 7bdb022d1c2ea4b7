"""neo4j-graphrag: a question through its GraphRAG, with a stub in the place of the model."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import neo4j
import pytest
from neo4j_graphrag.components.kg_writer import Neo4jWriter
from neo4j_graphrag.components.lexical_graph import LexicalGraphBuilder
from neo4j_graphrag.components.types import DocumentInfo, TextChunk, TextChunks
from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.llm import LLMInterfaceV2, LLMResponse

import memoria
import memoria.sync
from memoria.errors import InvalidInputError
from memoria.graph.mapping.creating import create_indexes
from memoria.graph.mapping.detecting import detect
from memoria.integrations.neo4j_graphrag import MemoriaRetriever
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from tests.adapters.conftest import QUESTION, has_vector

Both = memoria.sync.GraphRetriever


class Stub(LLMInterfaceV2):
    """A model that answers with the prompt that it was given."""

    def __init__(self) -> None:
        super().__init__(model_name="stub")

    def invoke(self, input: Any, **_: Any) -> LLMResponse:  # noqa: A002
        return LLMResponse(content=input[-1]["content"])

    async def ainvoke(self, input: Any, **_: Any) -> LLMResponse:  # noqa: A002
        return self.invoke(input)


def test_graph_rag_answers_from_memories_that_only_the_graph_knows(both: Both) -> None:
    rag = GraphRAG(retriever=MemoriaRetriever(both), llm=Stub())
    found = rag.search(QUESTION, retriever_config={"top_k": 5}, return_context=True)
    assert "The probe of the cold room was broken." in found.answer
    result = found.retriever_result
    assert result is not None
    assert len(result.items) == 5
    assert result.metadata["memoria_scope"] == both.scope
    for item in result.items:
        assert item.metadata["memoria_recall_id"] == result.metadata["memoria_recall_id"]
        assert item.metadata["memoria_path"][-1] == item.metadata["memoria_id"]
        assert not has_vector(json.loads(json.dumps(item.metadata)))


@pytest.mark.parametrize("k", [1, 3])
def test_top_k_is_exactly_that_many(both: Both, k: int) -> None:
    assert len(MemoriaRetriever(both).search(query_text=QUESTION, top_k=k).items) == k


def test_where_nothing_is_remembered_the_fallback_answers(both: Both) -> None:
    empty = both.for_scope(f"empty-{uuid4().hex}")
    rag = GraphRAG(retriever=MemoriaRetriever(empty), llm=Stub())
    answer = rag.search(QUESTION, response_fallback="I do not know.", return_context=False).answer
    assert answer == "I do not know."


def test_as_a_tool_it_asks_the_model_for_the_question_and_a_number_but_for_no_scope(
    both: Both,
) -> None:
    tool = MemoriaRetriever(both).convert_to_tool(name="recall", description="Search the memory.")
    parameters = tool.get_parameters()
    assert set(parameters["properties"]) == {"query_text", "top_k"}
    assert parameters["required"] == ["query_text"]
    assert len(tool.execute(query_text=QUESTION, top_k=2).items) == 2


async def test_an_async_retriever_is_refused(awaited: memoria.GraphRetriever) -> None:
    with pytest.raises(InvalidInputError, match=r"memoria\.sync\.connect"):
        MemoriaRetriever(awaited)  # type: ignore[arg-type]


class WithoutApoc(Neo4jWriter):
    """Writes the rows of relationships without APOC, which the servers of the tests lack."""

    def _upsert_relationships(self, rels: list[Any]) -> None:
        self.driver.execute_query(
            "UNWIND $rows AS row MATCH (a:__KGBuilder__ {__tmp_internal_id: row.start_node_id}) "
            "MATCH (b:__KGBuilder__ {__tmp_internal_id: row.end_node_id}) "
            "MERGE (a)-[r:$(row.type)]->(b) SET r += row.properties",
            rows=self._relationships_to_rows(rels),
        )


async def test_what_its_own_writer_wrote_is_asked_through_a_mapping(target: Target) -> None:
    texts = ["Ada moved to Porto in May.", "There she works for the harbour."]
    chunks = TextChunks(chunks=[TextChunk(text=each, index=n) for n, each in enumerate(texts)])
    with neo4j.GraphDatabase.driver(target.uri, auth=target.auth) as driver:
        built = await LexicalGraphBuilder().run(chunks, DocumentInfo(path="ada.txt"))
        assert (await WithoutApoc(driver).run(built.graph)).status == "SUCCESS"
        try:
            async with open_driver(target, StoreConfig()) as ours:
                store = Store(ours, database=target.database)
                proposal = await detect(store)
                assert proposal.based_on == "neo4j-graphrag"
                await create_indexes(store, proposal.mapping, lambda _: None)
            place = {"auth": target.auth, "database": target.database}
            with memoria.sync.connect(target.uri, mapping=proposal.mapping, **place) as mapped:
                asked = MemoriaRetriever(mapped).search(query_text="Who moved to Porto?", top_k=2)
            assert [item.content for item in asked.items] == texts  # the second by NEXT_CHUNK alone
        finally:
            driver.execute_query("MATCH (n:__KGBuilder__) DETACH DELETE n")
            driver.execute_query("DROP INDEX memoria_chunk_text IF EXISTS")
