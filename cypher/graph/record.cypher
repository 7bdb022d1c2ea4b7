// name: graph.record
// mode: write
// params: dimensions, embedder, generation, schema_version
// returns: embedder
// Record what the set-up made. The name of the first embedder stays; the caller compares it.
// generation: that of the vectors that the caller knows; the size of others is not changed.
MERGE (m:MemoriaMeta {key: 'memoria'})
  ON CREATE SET m.created_at = datetime()
SET m.schema_version = $p.schema_version,
    m.dimensions = CASE WHEN coalesce(m.generation, 1) = $p.generation THEN $p.dimensions
                        ELSE m.dimensions END,
    m.embedder = coalesce(m.embedder, $p.embedder)
RETURN m.embedder AS embedder
