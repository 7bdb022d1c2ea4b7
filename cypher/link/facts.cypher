// name: link.facts
// mode: read
// params: ids, scope
// returns: rows LIST<LIST>
// The values of memories on which the score of an edge depends, for a whole batch. rows: [id, tags,
// category, topics, entities, active_hours, linked before], as stored. An id without a memory gives
// no row.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
RETURN collect([id, m.tags, m.category, m.topics, m.entities, m.active_hours,
               m.linked_at IS NOT NULL]) AS rows
