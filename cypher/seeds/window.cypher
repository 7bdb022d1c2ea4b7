// name: seeds.window
// mode: read
// params: held, kinds, limit, scope, where
// returns: ids LIST<STRING>
// The memories of a scope that fit where, which includes a time; the newest first. Takes one pass
// over the scope.
// use: all_memories_by_seek(m, > '')
  AND NOT // use: is_connector(m)
  AND // use: fits_filter(m)
  AND // use: is_valid(m)
WITH m.id AS id, m.created_at AS made
WITH id, CASE WHEN made IS :: LOCAL DATETIME NOT NULL
  THEN datetime({datetime: made, timezone: 'Z'}) ELSE made END AS made
ORDER BY made DESC, id
LIMIT toInteger($p.limit)
RETURN collect(id) AS ids
