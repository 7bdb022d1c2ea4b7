// name: seeds.vector_exact
// mode: read
// params: held, kinds, limit, loose, question_chars, question_kinds, scope, session, spoken, vector, where
// returns: hits LIST<LIST>, questions LIST<LIST>, seen INTEGER
// The nearest memories of a scope by comparing all of them; exact, and linear in the size of the
// scope. hits: [id, cosine].
// questions: [id, text, loose, spoken] of the hits that are earlier questions: the text unless it is
// longer than question_chars; whether all their edges are of the relations in loose; and whether they
// stand in the session of a conversation and all their edges are of the relations in spoken.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL
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
// In a step of its own, so that the embeddings of memories that don't fit are not read.
WITH m, m.embedding AS embedding
WHERE size(embedding) = size($p.vector)
WITH m, m.id AS id, vector.similarity.cosine(embedding, $p.vector) AS score
WHERE score IS NOT NULL
ORDER BY score DESC, id
LIMIT toInteger($p.limit)
RETURN collect([id, 2 * score - 1]) AS hits, count(*) AS seen,
       collect(CASE WHEN any(label IN labels(m) WHERE label IN $p.question_kinds) THEN [
         m.id,
         CASE WHEN m.text IS :: STRING NOT NULL AND size(m.text) <= $p.question_chars THEN m.text END,
         NOT EXISTS {
           (m)-[r:RELATES]-() WHERE NOT coalesce(toStringOrNull(r.relation), '') IN $p.loose
         },
         EXISTS { (m)-[:RELATES {relation: $p.session}]->() } AND NOT EXISTS {
           (m)-[r:RELATES]-() WHERE NOT coalesce(toStringOrNull(r.relation), '') IN $p.spoken
         }
       ] END) AS questions
