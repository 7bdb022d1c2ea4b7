// name: seeds.text
// mode: read
// params: held, kinds, limit, loose, lucene, question_chars, question_kinds, scope, session, spoken, where
// returns: hits LIST<LIST>, questions LIST<LIST>, seen INTEGER
// The best memories of a scope by BM25. hits: [id, score]. seen: how many hits the index returned
// before they were filtered by kinds, which the index can't do; if fewer than limit, there are no
// more. The Lucene query filters by scope_key inside the index; the comparison of scope makes sure.
// questions: [id, text, loose, spoken] of the hits that are earlier questions: the text unless it is
// longer than question_chars; whether all their edges are of the relations in loose; and whether they
// stand in the session of a conversation and all their edges are of the relations in spoken.
CALL db.index.fulltext.queryNodes('memory_text', $p.lucene, {limit: toInteger($p.limit)})
YIELD node AS m, score
// If a question has only stop words or signs, only the scope is matched, which scores 0.
WITH m, score WHERE score > 0
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
RETURN collect(CASE WHEN fits THEN [m.id, score] END) AS hits, count(*) AS seen,
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
