// name: seeds.window
// mode: read
// params: held, kinds, limit, scope, where
// returns: ids LIST<STRING>
// The memories of a scope that fit where, which includes a time; the newest first. Takes one pass
// over the scope.
MATCH (m:Memory)
USING INDEX SEEK m:Memory(scope, id)
WHERE m.scope = $p.scope AND m.id > ''
  AND NOT m:Session|Speaker|Topic
  AND (size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds))
  AND ($p.where.plain OR coalesce(
    NOT m.id IN $p.where.exclude_ids
    AND all(tag IN $p.where.tags WHERE tag IN m.tags)
    AND all(pair IN $p.where.metadata WHERE pair IN m.metadata_pairs)
    AND (size($p.where.created_from) = 0
      OR any(time IN $p.where.created_from WHERE m.created_at >= time))
    AND (size($p.where.created_before) = 0
      OR any(time IN $p.where.created_before WHERE m.created_at < time)), false))
  AND NOT coalesce(m.superseded_at <= $p.held.at OR m.valid_until <= $p.held.at, false)
  AND ($p.held.plain OR NOT coalesce(
    m.created_at > $p.held.made_by OR m.`when` IN $p.held.outside, false))
WITH m.id AS id, m.created_at AS made
WITH id, CASE WHEN made IS :: LOCAL DATETIME NOT NULL
  THEN datetime({datetime: made, timezone: 'Z'}) ELSE made END AS made
ORDER BY made DESC, id
LIMIT toInteger($p.limit)
RETURN collect(id) AS ids
