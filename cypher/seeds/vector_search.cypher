// name: seeds.vector_search
// mode: read
// params: held, kinds, limit, loose, question_chars, question_kinds, scope, session, spoken, vector, where
// returns: hits LIST<LIST>, questions LIST<LIST>, seen INTEGER
// needs: search
// The nearest memories of a scope, filtered by scope inside the index (Neo4j 2026 and later). hits:
// [id, cosine]. Kinds are labels, which the index can't filter, so they are filtered after it.
// seen: how many hits the index returned; if fewer than limit, there are no more.
// questions: [id, text, loose, spoken] of the hits that are earlier questions: the text unless it is
// longer than question_chars; whether all their edges are of the relations in loose; and whether they
// stand in the session of a conversation and all their edges are of the relations in spoken.
CYPHER 25
MATCH (m:Memory)
  SEARCH m IN (VECTOR INDEX memory_embedding FOR $p.vector WHERE m.scope = $p.scope LIMIT $p.limit)
  SCORE AS score
WITH m, score, (size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds))
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
       m.created_at > $p.held.made_by OR m.`when` IN $p.held.outside, false)) AS fits
RETURN collect(CASE WHEN fits THEN [m.id, 2 * score - 1] END) AS hits, count(*) AS seen,
       collect(CASE WHEN fits AND any(label IN labels(m) WHERE label IN $p.question_kinds) THEN [
         m.id,
         CASE WHEN m.text IS :: STRING NOT NULL AND size(m.text) <= $p.question_chars THEN m.text END,
         NOT EXISTS {
           (m)-[r:RELATES]-() WHERE NOT coalesce(toStringOrNull(r.relation), '') IN $p.loose
         },
         EXISTS { (m)-[:RELATES {relation: $p.session}]->() } AND NOT EXISTS {
           (m)-[r:RELATES]-() WHERE NOT coalesce(toStringOrNull(r.relation), '') IN $p.spoken
         }
       ] END) AS questions
