// name: graph.matching
// mode: read
// params: after, kinds, limit, scope, where
// returns: ids LIST<STRING>
// The next memories of a scope, by id, that fit kinds and where. If no kinds are given, connectors
// are left out. after: as in graph.page.
OPTIONAL MATCH (last:Memory {scope: $p.scope, id: $p.after})
WITH coalesce(last[head(['id'])], $p.after) AS after
CALL (after) {
  MATCH (m:Memory)
  WHERE m.scope = $p.scope AND m.id > after
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
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
RETURN collect(m.id) AS ids
