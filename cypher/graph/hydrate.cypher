// name: graph.hydrate
// mode: read
// params: ids, scope
// returns: memories LIST<LIST>
// The properties of each memory that a caller wants to read, without its embedding. Each row is a
// list, as in ranking.candidates, because the names of keys, and times in the driver's own form,
// would cost the client more than everything else.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
RETURN collect([
  id, labels(m), coalesce(m.text, m.connector_name), m.tags, m.topics, m.entities, m.category,
  m.priority, m.`when`,
  CASE
    WHEN m.created_at IS :: ZONED DATETIME OR m.created_at IS :: LOCAL DATETIME
      THEN toString(m.created_at)
  END,
  m.metadata,
  CASE
    WHEN m.valid_until IS :: ZONED DATETIME OR m.valid_until IS :: LOCAL DATETIME
      THEN toString(m.valid_until)
  END
]) AS memories
