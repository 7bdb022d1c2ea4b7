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
// use: vector_hits(m, score)
WITH m, score, // use: is_of_scope(m)
     AND // use: fits_filter(m)
     AND // use: is_valid(m) AS fits
RETURN collect(CASE WHEN fits THEN [m.id, 2 * score - 1] END) AS hits, count(*) AS seen,
       collect(CASE WHEN fits AND any(label IN labels(m) WHERE label IN $p.question_kinds) THEN // use: earlier_question(m) END) AS questions
