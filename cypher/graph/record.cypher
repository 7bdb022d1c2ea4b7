// name: graph.record
// mode: write
// params: dimensions, embedder, schema_version
// returns: embedder
// Record what the set-up made. The name of the first embedder stays; the caller compares it.
MERGE (m:MemoriaMeta {key: 'memoria'})
  ON CREATE SET m.created_at = datetime()
SET m.schema_version = $p.schema_version,
    m.dimensions = $p.dimensions,
    m.embedder = coalesce(m.embedder, $p.embedder)
RETURN m.embedder AS embedder
