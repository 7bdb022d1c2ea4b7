// name: graph.newest
// mode: read
// params: kinds, limit, scope, where
// returns: ids LIST<STRING>
// The newest memories of a scope that fit kinds and where, as in graph.matching; at the end those
// without a time. Takes one pass over the scope.
MATCH (m:Memory)
USING INDEX SEEK m:Memory(scope, id)
WHERE m.scope = $p.scope AND m.id > ''
  AND (size($p.kinds) > 0 OR NOT m:Session|Speaker|Topic)
  AND (size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds))
  AND ($p.where.plain OR coalesce(
    NOT m.id IN $p.where.exclude_ids
    AND all(tag IN $p.where.tags WHERE tag IN m.tags)
    AND all(pair IN $p.where.metadata WHERE pair IN m.metadata_pairs)
    AND (size($p.where.created_from) = 0
      OR any(time IN $p.where.created_from WHERE m.created_at >= time))
    AND (size($p.where.created_before) = 0
      OR any(time IN $p.where.created_before WHERE m.created_at < time)), false))
WITH m, m.created_at AS made
WITH m, CASE
  WHEN made IS :: ZONED DATETIME NOT NULL THEN made
  WHEN made IS :: LOCAL DATETIME NOT NULL THEN datetime({datetime: made, timezone: 'Z'})
  ELSE datetime({year: -9999})
END AS made
ORDER BY made DESC, m.id LIMIT toInteger($p.limit)
RETURN collect(m.id) AS ids
