// name: seeds.unembedded
// mode: read
// params: held, kinds, limit, scope, where
// returns: ids LIST
// The memories of a scope that have no embedding, which no comparison of vectors can find, the
// newest first. Takes one pass over the scope, as the exact search does.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND m.embedding IS NULL
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
WITH m.id AS id,
     CASE WHEN m.created_at IS :: ZONED DATETIME NOT NULL
       THEN m.created_at.epochMillis ELSE -9223372036854775807 END AS made_ms
ORDER BY made_ms DESC, id
LIMIT toInteger($p.limit)
RETURN collect(id) AS ids
