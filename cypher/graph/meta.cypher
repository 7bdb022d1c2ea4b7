// name: graph.meta
// mode: read
// params:
// returns: schema_version, embedder, dimensions, generation, last_generation, state, other_generation, other_embedder, other_dimensions
// The record that the set-up made; no row in a database that was never set up.
// embedder, dimensions, generation: of the live vectors; the rest is about the second generation while
// memoria reembed is under way; see memoria/ingest/reembed/record.py. state: null where it is not.
MATCH (m:MemoriaMeta {key: 'memoria'})
RETURN m.schema_version AS schema_version, m.embedder AS embedder, m.dimensions AS dimensions,
       coalesce(m.generation, 1) AS generation,
       coalesce(m.last_generation, m.generation, 1) AS last_generation,
       m.reembedding AS state, m.other_generation AS other_generation,
       m.other_embedder AS other_embedder, m.other_dimensions AS other_dimensions
