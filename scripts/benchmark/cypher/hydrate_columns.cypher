// graph.hydrate with a list for each property in place of one for each memory.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
RETURN [
  collect(id), collect(labels(m)), collect(coalesce(m.text, '')), collect(coalesce(m.tags, [])),
  collect(coalesce(m.topics, [])), collect(coalesce(m.entities, [])),
  collect(coalesce(m.category, '')), collect(coalesce(m.priority, -1.0)),
  collect(coalesce(m.`when`, '')),
  collect(CASE
    WHEN m.created_at IS :: ZONED DATETIME OR m.created_at IS :: LOCAL DATETIME
      THEN toString(m.created_at)
    ELSE ''
  END),
  collect(coalesce(m.metadata, ''))
] AS columns
