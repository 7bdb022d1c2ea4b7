// name: ranking.candidates
// mode: read
// params: conflicts, ids, kinds, known, max_degree, max_weight, next, order, plain, scope, vector, where
// returns: candidates LIST<LIST>
// The values on which the ranking of the found memories depends, and the memories themselves if
// they are not known yet. candidates: [id, cosine with the query or null, degree, neighbours,
// memory or null, past or null, beside, said, conflicting, session or null]. neighbours: [id, weight, whether the edge
// leads to it], only those among ids, with the strongest of parallel edges of one direction.
// memory: as in graph.hydrate. past: epoch milliseconds when it was made, or null; and what
// learning left on it, as stored: use_count, use_times, confirmed, overridden, right_for,
// wrong_for. beside: the neighbours joined by an edge of either direction whose relation is one of
// order, in lower case. said: [id, [weight, relation], whether the edge leads to it] of the
// strongest edge of each direction whose relation is none of plain. conflicting: [id, whether the
// edge leads to it] of each memory that it conflicts with. session: [id, number of its edges,
// whether it begins with the memory] of the memory's session. Connectors, and memories that do not
// fit kinds and where, are not ranked and get none of these facts. Hubs with more than max_degree
// edges are not expanded, because they support no memory by much; their edges to other memories are
// read from the other end.
UNWIND $p.ids AS id
// use: find_memory(m, id)
WITH m, NOT // use: is_connector(m)
     AND // use: fits_filter(m) AS ranks
WITH collect(CASE WHEN ranks THEN m END) AS ranked, collect({m: m, ranks: ranks}) AS found
UNWIND found AS each
// The embedding is named only once, so that it is read only once.
WITH ranked, each.ranks AS ranks, each.m AS m
WITH ranked, ranks, m, CASE WHEN ranks THEN m.embedding END AS embedding,
     // use: degree(m) AS degree
WITH ranked, ranks, m, degree,
     [m.use_count, m.use_times, m.confirmed, m.overridden, m.right_for, m.wrong_for] AS past,
     CASE
       WHEN // use: is_vector(embedding)
            AND size(embedding) = size($p.vector)
       THEN 2 * vector.similarity.cosine(embedding, $p.vector) - 1
     END AS cosine
CALL (ranked, ranks, m, degree) {
  WITH * WHERE ranks AND degree <= $p.max_degree
  // use: edges(m, r, neighbour)
  // Compares nodes, because to compare ids the server would have to read those of all neighbours.
  WHERE neighbour IN ranked
  WITH m, neighbour, startNode(r) = m AS outgoing, toStringOrNull(r.relation) AS relation,
       // use: counted_weight(r.weight, $p.max_weight) AS weight
  WHERE weight > 0 AND neighbour <> m
  WITH neighbour, outgoing, weight, toLower(relation) IN $p.order AS beside,
       CASE WHEN NOT toLower(trim(relation)) IN $p.plain THEN [weight, relation] END AS said
  WITH neighbour.id AS other, outgoing, max(weight) AS weight,
       any(each IN collect(beside) WHERE each) AS beside, max(said) AS said
  ORDER BY other, outgoing
  RETURN collect([other, weight, outgoing]) AS neighbours,
         collect(DISTINCT CASE WHEN beside THEN other END) AS beside,
         collect(CASE WHEN said IS NOT NULL THEN [other, said, outgoing] END) AS said
}
CALL (ranked, ranks, m) {
  WITH * WHERE ranks
  MATCH (m)-[s:SUPPRESSES {kind: $p.conflicts}]-(other)
  WHERE other IN ranked AND other <> m
  RETURN collect([other.id, startNode(s) = m]) AS conflicting
}
CALL (ranks, m, degree) {
  WITH * WHERE ranks AND degree <= $p.max_degree
  // use: out_edges(m, joined, session)
  // With a label in the pattern, the server might scan all sessions.
  WHERE 'Session' IN labels(session) AND // use: is_of_scope(session)
  WITH m, session ORDER BY session.id LIMIT 1
  // A session has the time of its first message. Others may have it, too, such as those of one day.
  RETURN collect([session.id, // use: degree(session),
    coalesce(session.created_at = m.created_at, false) AND NOT EXISTS {
      // use: out_edges(other, r, m)
      WHERE toStringOrNull(r.relation) = $p.next
    }]) AS sessions
}
RETURN collect([
  m.id, cosine, degree, neighbours,
  CASE WHEN NOT m.id IN $p.known THEN // use: memory_row(m) END,
  CASE WHEN ranks AND any(value IN past WHERE value IS NOT NULL) THEN
    [CASE WHEN m.created_at IS :: ZONED DATETIME NOT NULL THEN m.created_at.epochMillis END] + past
  END,
  beside, said, conflicting, head(sessions)
]) AS candidates
