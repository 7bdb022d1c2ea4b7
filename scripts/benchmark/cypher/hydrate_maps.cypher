// graph.hydrate with a map for each memory, and times in the driver's own form.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
RETURN collect({
  id: id, labels: labels(m), text: m.text, tags: m.tags, topics: m.topics, entities: m.entities,
  category: m.category, priority: m.priority, `when`: m.`when`, created_at: m.created_at,
  metadata: m.metadata
}) AS memories
