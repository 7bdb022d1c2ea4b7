// name: seeds.unembedded
// mode: read
// params: held, kinds, limit, scope, where
// returns: ids LIST
// The memories of a scope that have no embedding, which no comparison of vectors can find, the
// newest first. Takes one pass over the scope, as the exact search does.
// use: all_memories(m) AND m.embedding IS NULL
  AND NOT // use: is_connector(m)
  AND // use: fits_filter(m)
  AND // use: is_valid(m)
WITH m.id AS id,
     CASE WHEN m.created_at IS :: ZONED DATETIME NOT NULL
       THEN m.created_at.epochMillis ELSE -9223372036854775807 END AS made_ms
ORDER BY made_ms DESC, id
LIMIT toInteger($p.limit)
RETURN collect(id) AS ids
