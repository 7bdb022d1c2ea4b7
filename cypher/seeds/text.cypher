// name: seeds.text
// mode: read
// params: held, kinds, limit, loose, lucene, pending, question_chars, question_kinds, scope, session, spoken, where
// returns: hits LIST<LIST>, questions LIST<LIST>, seen INTEGER, pending INTEGER
// The best memories of a scope by BM25. hits: [id, score]. seen: how many hits the index returned
// before they were filtered by kinds, which the index can't do; if fewer than limit, there are no
// more. The Lucene query filters by scope_key inside the index; the comparison of scope makes sure.
// questions: [id, text, loose, spoken] of the hits that are earlier questions: the text unless it is
// longer than question_chars; whether all their edges are of the relations in loose; and whether they
// stand in the session of a conversation and all their edges are of the relations in spoken.
// pending: how many memories the notes hold whose keys begin with the parameter pending, or 0 if it
// is null; see ingest.pending.
// use: text_hits(m, score)
// If a question has only stop words or signs, only the scope is matched, which scores 0.
WITH m, score WHERE score > 0
WITH m, score, // use: is_of_scope(m)
     AND // use: fits_filter(m)
     AND // use: is_valid(m) AS fits
WITH collect(CASE WHEN fits THEN [m.id, score] END) AS hits, count(*) AS seen,
     collect(CASE WHEN fits AND any(label IN labels(m) WHERE label IN $p.question_kinds) THEN // use: earlier_question(m) END) AS questions
WITH *, COLLECT {
  MATCH (note:MemoriaMeta) WHERE note.key STARTS WITH $p.pending
  RETURN coalesce(size(note.ids), 0)
} AS counts
RETURN hits, questions, seen, reduce(total = 0, count IN counts | total + count) AS pending
