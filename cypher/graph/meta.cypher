// name: graph.meta
// mode: read
// params:
// returns: schema_version, embedder, dimensions
// The record that the set-up made; no row in a database that was never set up.
MATCH (m:MemoriaMeta {key: 'memoria'})
RETURN m.schema_version AS schema_version, m.embedder AS embedder, m.dimensions AS dimensions
