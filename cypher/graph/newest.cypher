// name: graph.newest
// mode: read
// params: kinds, limit, scope, where
// returns: ids LIST<STRING>
// The newest memories of a scope that fit kinds and where, as in graph.matching; at the end those
// without a time. Takes one pass over the scope.
// use: all_memories_by_seek(m, > '')
  AND (size($p.kinds) > 0 OR NOT // use: is_connector(m))
  AND // use: fits_filter(m)
WITH m.id AS id, m.created_at AS made
WITH id, CASE
  WHEN made IS :: ZONED DATETIME NOT NULL THEN made
  WHEN made IS :: LOCAL DATETIME NOT NULL THEN datetime({datetime: made, timezone: 'Z'})
  ELSE datetime({year: -9999})
END AS made
ORDER BY made DESC, id LIMIT toInteger($p.limit)
RETURN collect(id) AS ids
