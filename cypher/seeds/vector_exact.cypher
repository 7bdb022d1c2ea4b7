// name: seeds.vector_exact
// mode: read
// params: held, kinds, limit, scope, vector
// returns: hits, seen
// The nearest memories of a scope by comparing all of them; exact, and linear in the size of the
// scope. hits: [id, cosine].
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL
  AND size(m.embedding) = size($p.vector)
  AND (size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds))
  AND NOT coalesce(m.superseded_at <= $p.held.at OR m.valid_until <= $p.held.at, false)
  AND ($p.held.plain OR NOT coalesce(
    m.created_at > $p.held.made_by OR m.`when` IN $p.held.outside, false))
WITH m.id AS id, vector.similarity.cosine(m.embedding, $p.vector) AS score
WHERE score IS NOT NULL
ORDER BY score DESC, id
LIMIT toInteger($p.limit)
RETURN collect([id, 2 * score - 1]) AS hits, count(*) AS seen
