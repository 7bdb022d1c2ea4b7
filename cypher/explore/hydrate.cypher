// name: explore.hydrate
// mode: read
// params: ids, scope
// returns: memories
// What a caller wants to read of each memory, never its embedding.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
RETURN collect({
  id: id, labels: labels(m), text: m.text, tags: m.tags, topics: m.topics, entities: m.entities,
  category: m.category, priority: m.priority, `when`: m.`when`, created_at: m.created_at,
  metadata: m.metadata
}) AS memories
