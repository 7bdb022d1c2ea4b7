"""Graphs of programs that can't be installed with memoria: their rows, as each of them leaves them.

Those of Mem0 1.0.11, mcp-neo4j-memory 0.4.5, cognee 1.6.5 and the LLM Graph Builder (2026-07) were
read back from a server that the program itself had written to; of the last, its functions that
write, with a stub for the embedder, and without the communities, for which Neo4j needs a plugin.
`tests/adapters/test_known_graphs.py` lets four other libraries write.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from memoria.graph.mapping import GraphMapping
from memoria.graph.mapping.creating import create_indexes
from memoria.graph.mapping.detecting import detect
from memoria.graph.mapping.examining import examine_mapping
from memoria.retriever import GraphRetriever
from memoria.store import Store
from tests.integration.graph.test_mapping import run

MEM0 = [
    "CREATE INDEX entity_single FOR (n:`__Entity__`) ON (n.user_id)",
    "CREATE INDEX entity_composite FOR (n:`__Entity__`) ON (n.name, n.user_id)",
    """
    UNWIND [['alice', 'person', 5], ['porto', 'city', 2], ['acme', 'company', 2],
            ['globex', 'company', 1]] AS row
    CREATE (n:`__Entity__`:$(row[1]) {name: row[0], user_id: 'alice', mentions: row[2],
                                      created: timestamp(), embedding: [1.0, 0.0, 0.0, 0.0]})
    WITH collect(n) AS nodes
    WITH nodes[0] AS alice, nodes[1] AS porto, nodes[2] AS acme, nodes[3] AS globex
    CREATE (alice)-[:lives_in {mentions: 2, valid: true, created_at: timestamp(),
                               updated_at: timestamp()}]->(porto)
    CREATE (alice)-[:works_at {mentions: 2, valid: false, created_at: timestamp(),
                               updated_at: timestamp(), invalidated_at: datetime()}]->(acme)
    CREATE (alice)-[:works_at {mentions: 1, valid: true, created_at: timestamp(),
                               updated_at: timestamp()}]->(globex)
    """,
]
MCP = [
    "CREATE FULLTEXT INDEX search FOR (m:Memory) ON EACH [m.name, m.type, m.observations]",
    """
    CREATE (a:Memory:person {name: 'Ada', type: 'person',
                             observations: ['Moved to Porto in May', 'Works at Globex']})
    CREATE (p:Memory:city {name: 'Porto', type: 'city', observations: ['Has bridges']})
    CREATE (a)-[:LIVES_IN]->(p)
    """,
]
COGNEE = [
    "CREATE CONSTRAINT FOR (n:`__Node__`) REQUIRE n.id IS UNIQUE",
    """
    UNWIND [['e1', 'Entity', 'ada', 'An engineer'], ['e2', 'Entity', 'porto', 'A city'],
            ['t1', 'EntityType', 'person', 'A person'], ['d1', 'TextDocument', 'ada.txt', null]]
      AS row
    CREATE (n:`__Node__`:$(row[1]) {id: row[0], type: row[1], name: row[2], description: row[3],
            created_at: timestamp(), updated_at: timestamp(), version: 1, belongs_to_set: [],
            metadata: '{"index_fields": ["name"]}', ontology_valid: false, topological_rank: 0})
    WITH count(*) AS made
    CREATE (:`__Node__`:DocumentChunk {id: 'c1', type: 'DocumentChunk', chunk_index: 0,
            text: 'Ada moved to Porto in May.', chunk_size: 7, cut_type: 'paragraph_end',
            created_at: timestamp(), updated_at: timestamp(), belongs_to_set: [],
            metadata: '{"index_fields": ["text"]}', version: 1})
    """,
    """
    UNWIND [['c1', 'contains', 'e1'], ['c1', 'contains', 'e2'], ['c1', 'is_part_of', 'd1'],
            ['e1', 'is_a', 't1'], ['e1', 'lives_in', 'e2']] AS row
    MATCH (a:`__Node__` {id: row[0]}) MATCH (b:`__Node__` {id: row[2]})
    CREATE (a)-[r:$(row[1]) {source_node_id: row[0], target_node_id: row[2],
                             relationship_name: row[1], updated_at: timestamp()}]->(b)
    """,
]
VECTORS = "OPTIONS {indexConfig: {`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}"
BARE = [
    "CREATE CONSTRAINT FOR (e:`__Entity__`) REQUIRE e.id IS UNIQUE",
    f"CREATE VECTOR INDEX vector FOR (c:Chunk) ON c.embedding {VECTORS}",
    """
    CREATE (d:Document {fileName: 'ada.txt', status: 'Completed', createdAt: localdatetime(),
                        fileType: 'text'})
    CREATE (c:Chunk {id: '70f9', text: 'Ada moved to Porto in May.', position: 1, length: 26,
                     fileName: 'ada.txt', content_offset: 0, embedding: [0.6, 0.8]})
    CREATE (e:Chunk {id: '29d1', text: 'The city has bridges.', position: 2, length: 21,
                     fileName: 'ada.txt', content_offset: 26, embedding: [0.8, 0.6]})
    CREATE (a:`__Entity__`:Person {id: 'Ada', description: 'An engineer'})
    CREATE (p:`__Entity__`:City {id: 'Porto'})
    CREATE (c)-[:PART_OF]->(d), (e)-[:PART_OF]->(d), (d)-[:FIRST_CHUNK]->(c),
           (c)-[:NEXT_CHUNK]->(e), (c)-[:SIMILAR {score: 0.96}]->(e),
           (c)-[:HAS_ENTITY]->(a), (c)-[:HAS_ENTITY]->(p), (a)-[:LIVES_IN]->(p)
    """,
]
BUILDER = [
    *BARE,
    "MATCH (e:`__Entity__`) SET e.embedding = [0.6, 0.8]",
    "CREATE FULLTEXT INDEX entities FOR (n:`__Entity__`|Person|City) ON EACH [n.id, n.description]",
    "CREATE FULLTEXT INDEX keyword FOR (n:Chunk) ON EACH [n.text]",
    "CREATE FULLTEXT INDEX community_keyword FOR (n:`__Community__`) ON EACH [n.summary]",
    f"CREATE VECTOR INDEX entity_vector FOR (e:`__Entity__`) ON e.embedding {VECTORS}",
    f"CREATE VECTOR INDEX community_vector FOR (c:`__Community__`) ON c.embedding {VECTORS}",
    "CALL db.awaitIndexes()",
]


@dataclass(frozen=True, kw_only=True)
class Known:
    """A graph: its writer, a question, and the texts found for it, with the hops to them."""

    name: str
    rows: list[str]
    question: str
    texts: set[str]
    hops: set[str]
    scope: str | None = None
    #: Whether the program makes all the indexes that the mapping needs.
    complete: bool = False


GRAPHS = [
    Known(
        name="mem0", rows=MEM0, scope="alice", question="alice",
        texts={"alice", "porto", "globex"}, hops={"lives_in", "works_at"},  # no more at acme
    ),
    Known(
        name="mcp-neo4j-memory", rows=MCP, question="Who works at Globex?",
        texts={"Ada: Moved to Porto in May; Works at Globex", "Porto: Has bridges"},
        hops={"LIVES_IN"},
    ),
    Known(
        name="cognee", rows=COGNEE, question="Who moved in May?",
        texts={"Ada moved to Porto in May.", "ada: An engineer", "porto: A city"},
        hops={"contains"},
    ),
    Known(
        name="llm-graph-builder", rows=BUILDER, question="Who moved in May?",
        texts={"Ada moved to Porto in May.", "The city has bridges.", "Ada: An engineer", "Porto"},
        hops={"HAS_ENTITY", "SIMILAR"}, complete=True,
    ),
    Known(
        name="llm-graph-builder", rows=BARE, question="Who moved in May?",
        texts={"Ada moved to Porto in May.", "The city has bridges.", "Ada: An engineer", "Porto"},
        hops={"HAS_ENTITY", "SIMILAR"},
    ),
]  # fmt: skip


@pytest.mark.parametrize("known", GRAPHS, ids=[f"{one.name} {len(one.rows)}" for one in GRAPHS])
async def test_the_rows_of_a_known_program_are_detected_and_read(
    known: Known, empty: Store
) -> None:
    await run(empty, *known.rows)
    proposal = await detect(empty)
    assert proposal.based_on == known.name
    named = {node.labels: node for node in GraphMapping.named(known.name).nodes}
    for node in proposal.mapping.nodes:
        assert (node.key, node.text) == (named[node.labels].key, named[node.labels].text)
    made: list[str] = []
    await create_indexes(empty, proposal.mapping, made.append)
    assert not (known.complete and made)
    if known.complete:
        as_named = GraphRetriever(empty, mapping=GraphMapping.named(known.name))
        assert (await as_named.recall(known.question)).ranked
    assert [p for p in await examine_mapping(empty, proposal.mapping, limit=100) if p.stops] == []
    memory = GraphRetriever(empty, scope=known.scope, mapping=proposal.mapping)
    found = await memory.recall(known.question)
    texts = {item.memory.text for item in found.ranked}
    assert known.texts <= texts
    assert "acme" not in texts
    hops = {hop.relation for each in found.explorations for path in each.paths for hop in path.hops}
    assert known.hops <= hops
