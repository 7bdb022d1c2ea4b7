// name: seeds.vector_procedure
// mode: read
// params: held, kinds, limit, loose, question_chars, question_kinds, scope, session, spoken, vector, where
// returns: hits LIST<LIST>, questions LIST<LIST>, seen INTEGER
// The nearest memories of all scopes, filtered by scope afterwards. A small scope in a large index
// may get fewer hits than it has, so the caller asks for more, and then searches exactly. hits:
// [id, cosine]; seen: how many hits the index returned. Fewer than limit need not be all: where many
// vectors are equal, Neo4j 5 does not reach every one.
// questions: [id, text, loose, spoken] of the hits that are earlier questions: the text unless it is
// longer than question_chars; whether all their edges are of the relations in loose; and whether they
// stand in the session of a conversation and all their edges are of the relations in spoken.
CALL db.index.vector.queryNodes('memory_embedding', toInteger($p.limit), $p.vector)
YIELD node AS m, score
WITH m, score, m.scope = $p.scope
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
