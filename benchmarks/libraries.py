"""Write and search graphs with the libraries that made them known; run by a Python that has them.

    python -m benchmarks.libraries JOB.json > ANSWERS.json

memoria is not imported here, for the libraries pin other versions than it does. A job names a
server, a library, items (id, text, vector, names, time, group), and questions (id, text, vector,
group). Answers: id of a question -> ids or texts of items, best first. Writes to the server.

The language models of the libraries are left out: entities and facts are those of the job.
"""

# mypy: ignore-errors
from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Job = dict[str, Any]
Answers = dict[str, list[str]]
K = 10
#: Facts that Graphiti is asked for: several may come from one episode.
_FACTS = 40


def main() -> None:
    """Do the job that the argument names."""
    logging.disable(logging.WARNING)
    job: Job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found = {"graphrag": graphrag, "langchain": langchain, "graphiti": graphiti}[job["library"]](
        job
    )
    print(json.dumps(found))


def graphrag(job: Job) -> Answers:
    """Write chunks, documents and entities as SimpleKGPipeline does, and search its chunks."""
    import neo4j
    from neo4j_graphrag.components.kg_writer import Neo4jWriter
    from neo4j_graphrag.components.lexical_graph import LexicalGraphBuilder
    from neo4j_graphrag.components.types import (
        DocumentInfo,
        Neo4jGraph,
        Neo4jNode,
        TextChunk,
        TextChunks,
    )
    from neo4j_graphrag.indexes import create_fulltext_index, create_vector_index

    class WithoutApoc(Neo4jWriter):
        """Writes the same rows of relationships without APOC, which a plain server lacks."""

        def _upsert_relationships(self, rels: list[Any]) -> None:
            self.driver.execute_query(
                "UNWIND $rows AS row "
                "MATCH (a:__KGBuilder__ {__tmp_internal_id: row.start_node_id}) "
                "MATCH (b:__KGBuilder__ {__tmp_internal_id: row.end_node_id}) "
                "MERGE (a)-[r:$(row.type)]->(b) SET r += row.properties",
                rows=self._relationships_to_rows(rels),
            )

    async def write(driver: Any) -> None:
        builder, writer = LexicalGraphBuilder(), WithoutApoc(driver)
        whole, seen = Neo4jGraph(), set()
        for item in job["items"]:
            chunk = TextChunk(text=item["text"], index=0, metadata={"embedding": item["vector"]})
            document = DocumentInfo(path=item["id"])
            graph = (await builder.run(TextChunks(chunks=[chunk]), document)).graph
            for name in item["names"]:
                graph.nodes.append(Neo4jNode(id=name, label="Thing", properties={"name": name}))
            await builder.process_chunk_extracted_entities(graph, chunk)
            whole.nodes += [node for node in graph.nodes if node.id not in seen]
            whole.relationships += graph.relationships
            seen |= {node.id for node in graph.nodes}
        if (done := await writer.run(whole)).status != "SUCCESS":
            sys.exit(f"neo4j-graphrag wrote nothing: {done.metadata}")

    with neo4j.GraphDatabase.driver(job["uri"], auth=(job["user"], job["password"])) as driver:
        asyncio.run(write(driver))
        create_vector_index(
            driver, "chunks", label="Chunk", embedding_property="embedding",
            dimensions=len(job["items"][0]["vector"]), similarity_fn="cosine",
        )  # fmt: skip
        create_fulltext_index(driver, "chunk_words", label="Chunk", node_properties=["text"])
        driver.execute_query("CALL db.awaitIndexes()")
        return _hybrid(job, driver, "chunks", "chunk_words")


def langchain(job: Job) -> Answers:
    """Write documents and entities as add_graph_documents does, and search the documents."""
    import neo4j
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_neo4j import Neo4jGraph, Neo4jVector
    from langchain_neo4j.graphs.graph_document import GraphDocument, Node

    class WithoutApoc(Neo4jGraph):
        """Skips the query for relationships between entities: there are none, and it needs APOC."""

        def query(self, query: str, params: Any = None, **more: Any) -> Any:
            return [] if "apoc." in query else super().query(query, params or {}, **more)

        def refresh_schema(self) -> None:
            self.schema = ""

    class LookedUp(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            vectors = {item["text"].strip(): item["vector"] for item in job["items"]}
            return [vectors[text.strip().removeprefix("text:").strip()] for text in texts]

        def embed_query(self, _: str) -> list[float]:
            return job["items"][0]["vector"]  # only its size is used here

    server = {"url": job["uri"], "username": job["user"], "password": job["password"]}
    graph = WithoutApoc(**server, refresh_schema=False)
    documents = [
        GraphDocument(
            nodes=[Node(id=name, type="Thing") for name in item["names"]],
            relationships=[],
            source=Document(page_content=item["text"], metadata={"id": item["id"]}),
        )
        for item in job["items"]
    ]
    graph.add_graph_documents(documents, include_source=True, baseEntityLabel=True)
    Neo4jVector.from_existing_graph(
        LookedUp(), **server, index_name="vector", keyword_index_name="keyword",
        node_label="Document", text_node_properties=["text"], embedding_node_property="embedding",
        search_type="hybrid",
    )  # fmt: skip
    with neo4j.GraphDatabase.driver(job["uri"], auth=(job["user"], job["password"])) as driver:
        driver.execute_query("CALL db.awaitIndexes()")
        return _hybrid(job, driver, "vector", "keyword")


def _hybrid(job: Job, driver: Any, vectors: str, words: str) -> Answers:
    from neo4j_graphrag.retrievers import HybridCypherRetriever

    retriever = HybridCypherRetriever(driver, vectors, words, "RETURN node.text AS text, score")
    found: Answers = {}
    for question in job["questions"]:
        plain = " ".join(re.findall(r"\w+", question["text"]))  # it takes signs for operators
        rows = retriever.get_search_results(
            query_text=plain, query_vector=question["vector"], top_k=K
        ).records
        found[question["id"]] = [row["text"] for row in rows]
    return found


def graphiti(job: Job) -> Answers:
    """Write episodes, entities and facts by Graphiti's bulk writer, and search its facts."""
    return asyncio.run(_graphiti(job))


async def _graphiti(job: Job) -> Answers:
    from graphiti_core import Graphiti
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.llm_client.client import LLMClient
    from graphiti_core.llm_client.config import LLMConfig
    from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk

    asked = {each["text"].replace("\n", " "): each["vector"] for each in job["questions"]}

    class LookedUp(EmbedderClient):
        async def create(self, input_data: Any) -> list[float]:
            return asked[input_data[0]]

    class NoModel(LLMClient):
        async def _generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
            raise NotImplementedError("no language model here")

    class NoRanker(CrossEncoderClient):
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            raise NotImplementedError("the default recipe needs none")

    memory = Graphiti(
        job["uri"],
        job["user"],
        job["password"],
        llm_client=NoModel(LLMConfig(api_key="none")),
        embedder=LookedUp(),
        cross_encoder=NoRanker(),
    )
    await memory.build_indices_and_constraints()
    await add_nodes_and_edges_bulk(memory.driver, *_of_graphiti(job["items"]), memory.embedder)
    await memory.driver.execute_query("CALL db.awaitIndexes()")
    found: Answers = {}
    for question in job["questions"]:
        edges = await memory.search(
            question["text"], group_ids=[question["group"]], num_results=_FACTS
        )
        found[question["id"]] = list(dict.fromkeys(id_ for edge in edges for id_ in edge.episodes))
    await memory.close()
    return found


def _of_graphiti(items: list[Job]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Make episodes, mentions, entities and facts; the first name of an item is who speaks."""
    from graphiti_core.edges import EntityEdge, EpisodicEdge
    from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode

    now = datetime.now(UTC)
    first = [1.0] + [0.0] * (len(items[0]["vector"]) - 1)  # of a name; facts are searched
    entities: dict[tuple[str, str], EntityNode] = {}
    episodes, mentions, facts = [], [], []
    for item in items:
        own = {"group_id": item["group"], "created_at": now}
        time = datetime.fromisoformat(item["time"]).replace(tzinfo=UTC)
        for name in item["names"]:
            entity = EntityNode(name=name, summary="", name_embedding=first, **own)
            entities.setdefault((item["group"], name), entity)
        speaker, *about = [entities[item["group"], name].uuid for name in item["names"]]
        episodes.append(
            EpisodicNode(
                uuid=item["id"],
                name=item["id"],
                source=EpisodeType.message,
                source_description="chat",
                content=item["text"],
                valid_at=time,
                **own,
            )
        )
        mentions += [
            EpisodicEdge(source_node_uuid=item["id"], target_node_uuid=uuid, **own)
            for uuid in (speaker, *about)
        ]
        facts += [
            EntityEdge(
                source_node_uuid=speaker,
                target_node_uuid=uuid,
                name="SAID",
                fact=item["text"],
                fact_embedding=item["vector"],
                episodes=[item["id"]],
                valid_at=time,
                **own,
            )
            for uuid in about
        ]
    return episodes, mentions, list(entities.values()), facts


if __name__ == "__main__":
    main()
