// name: schema
// mode: schema
// params:
// returns:
// Constraints and indexes for any Neo4j from 5.26 on; may be run again at any time.
// On Neo4j 2026 and later use schema-25.cypher, whose vector index can filter by scope.
//
//   cypher-shell -f schema.cypher
//
// 384 is the size of the vectors of the default embedder.

CREATE CONSTRAINT memory_scope_id IF NOT EXISTS
FOR (n:Memory) REQUIRE (n.scope, n.id) IS UNIQUE;

CREATE CONSTRAINT memoria_meta_key IF NOT EXISTS
FOR (n:MemoriaMeta) REQUIRE n.key IS UNIQUE;

// The analyser removes accents. search_words contains the pieces of names such as getUserById,
// which the analyser does not split; memoria's writers store it, other programs may leave it out.
CREATE FULLTEXT INDEX memory_text IF NOT EXISTS
FOR (n:Memory) ON EACH [n.text, n.scope_key, n.search_words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-folding'}};

// Quantisation is on by default and costs 8 to 21 % of recall on clustered vectors.
CREATE VECTOR INDEX memory_embedding IF NOT EXISTS
FOR (n:Memory) ON n.embedding
OPTIONS {indexConfig: {
  `vector.dimensions`: 384,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};

// The record of the set-up. It names no embedder yet: the first one that stores vectors is recorded
// then, and every other one refused from then on.
MERGE (m:MemoriaMeta {key: 'memoria'})
  ON CREATE SET m.created_at = datetime(), m.dimensions = 384
SET m.schema_version = 1;
