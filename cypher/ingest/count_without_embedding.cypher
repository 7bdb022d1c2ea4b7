// name: ingest.count_without_embedding
// mode: read
// params: kinds, scope
// returns: count INTEGER
// How many memories of a scope have no vector; of these kinds, or without kinds of any. Connectors
// have none and need none.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND m.embedding IS NULL
  AND NOT m:Session|Speaker|Topic
  AND (size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds))
RETURN count(*) AS count
