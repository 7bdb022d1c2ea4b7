// name: graph.superseded
// mode: read
// params: ids, scope
// returns: by STRING | NULL, id STRING
// Which of some memories others have replaced.
UNWIND $p.ids AS wanted
// use: find_memory(m, wanted)
WHERE m.superseded_by IS NOT NULL
RETURN m.id AS id, toStringOrNull(m.superseded_by) AS by
