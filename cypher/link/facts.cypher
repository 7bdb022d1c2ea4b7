// name: link.facts
// mode: read
// params: ids, scope
// returns: rows
// What the score of an edge needs to know of memories, all in one batch. rows: [id, tags, category,
// topics, entities, active_hours, linked before], as stored; an id that no memory has gives no row.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
RETURN collect([id, m.tags, m.category, m.topics, m.entities, m.active_hours,
               m.linked_at IS NOT NULL]) AS rows
