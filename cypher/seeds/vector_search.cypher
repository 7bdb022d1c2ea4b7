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
// use: vector_hits_of_scope(m, score)
WITH m, score, // use: fits_filter(m)
     AND // use: is_valid(m) AS fits
RETURN collect(CASE WHEN fits THEN [m.id, 2 * score - 1] END) AS hits, count(*) AS seen,
       collect(CASE WHEN fits AND any(label IN labels(m) WHERE label IN $p.question_kinds) THEN // use: earlier_question(m) END) AS questions
