// name: seeds.vector_exact
// mode: read
// params: held, kinds, limit, loose, question_chars, question_kinds, scope, session, spoken, vector, where
// returns: hits LIST<LIST>, questions LIST<LIST>, seen INTEGER
// The nearest memories of a scope by comparing all of them; exact, and linear in the size of the
// scope. hits: [id, cosine].
// questions: [id, text, loose, spoken] of the hits that are earlier questions: the text unless it is
// longer than question_chars; whether all their edges are of the relations in loose; and whether they
// stand in the session of a conversation and all their edges are of the relations in spoken.
// use: compared_memories(m)
  AND // use: fits_filter(m)
  AND // use: is_valid(m)
// In a step of its own, so that the embeddings of memories that don't fit are not read.
WITH m, // use: compared_vector(m) AS embedding
WHERE size(embedding) = size($p.vector)
WITH m, m.id AS id, vector.similarity.cosine(embedding, $p.vector) AS score
WHERE score IS NOT NULL
ORDER BY score DESC, id
LIMIT toInteger($p.limit)
RETURN collect([id, 2 * score - 1]) AS hits, count(*) AS seen,
       collect(CASE WHEN any(label IN labels(m) WHERE label IN $p.question_kinds) THEN // use: earlier_question(m) END) AS questions
