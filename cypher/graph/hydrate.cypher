// name: graph.hydrate
// mode: read
// params: ids, scope
// returns: memories
// What a caller wants to read of each memory, never its embedding. A row each, as in
// ranking.candidates: names of keys, and times in the driver's own form, would cost the client
// more than all the rest.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
RETURN collect([
  id, labels(m), m.text, m.tags, m.topics, m.entities, m.category, m.priority, m.`when`,
  CASE
    WHEN m.created_at IS :: ZONED DATETIME OR m.created_at IS :: LOCAL DATETIME
      THEN toString(m.created_at)
  END,
  m.metadata
]) AS memories
