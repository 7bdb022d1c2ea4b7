// name: ranking.candidates
// mode: read
// params: ids, kinds, known, max_degree, max_weight, scope, vector
// returns: candidates
// The values on which the ranking of the found memories depends, and the memories themselves if
// they are not known yet. candidates: [id, cosine with the query or null, degree, neighbours,
// memory or null]. neighbours: [id, weight, whether the edge leads to it], only those among ids,
// with the strongest of parallel edges of one direction. memory: as in graph.hydrate. If kinds are
// given, a memory of another kind has no part in the ranking: it gets neither cosine nor
// neighbours. Hubs with more than max_degree edges are not expanded, because they support nobody by
// much; their edges to other memories are read from the other end.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
WITH m, size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds) AS ranks
WITH collect(CASE WHEN ranks THEN m END) AS ranked, collect({m: m, ranks: ranks}) AS found
UNWIND found AS each
// The embedding is named only once, so that it is read only once.
WITH ranked, each.ranks AS ranks, each.m AS m
WITH ranked, ranks, m, CASE WHEN ranks THEN m.embedding END AS embedding,
     COUNT { (m)-[:RELATES]-() } AS degree
WITH ranked, ranks, m, degree,
     CASE
       WHEN embedding IS :: LIST<INTEGER NOT NULL> NOT NULL | LIST<FLOAT NOT NULL> NOT NULL
            AND size(embedding) = size($p.vector)
       THEN 2 * vector.similarity.cosine(embedding, $p.vector) - 1
     END AS cosine
CALL (ranked, ranks, m, degree) {
  WITH * WHERE ranks AND degree <= $p.max_degree
  MATCH (m)-[r:RELATES]-(neighbour)
  // Compares nodes, because to compare ids the server would have to read those of all neighbours.
  WHERE neighbour IN ranked
  WITH m, neighbour, startNode(r) = m AS outgoing,
       CASE
         WHEN r.weight IS NULL THEN 0.01
         WHEN r.weight > $p.max_weight AND r.weight <= 1.7976931348623157e308 THEN $p.max_weight
         WHEN r.weight >= 0 AND r.weight <= $p.max_weight THEN toFloat(r.weight)
       END AS weight
  WHERE weight > 0 AND neighbour <> m
  WITH neighbour.id AS other, outgoing, max(weight) AS weight
  ORDER BY other, outgoing
  RETURN collect([other, weight, outgoing]) AS neighbours
}
RETURN collect([
  m.id, cosine, degree, neighbours,
  CASE WHEN NOT m.id IN $p.known THEN [
    m.id, labels(m), m.text, m.tags, m.topics, m.entities, m.category, m.priority, m.`when`,
    CASE
      WHEN m.created_at IS :: ZONED DATETIME OR m.created_at IS :: LOCAL DATETIME
        THEN toString(m.created_at)
    END,
    m.metadata,
    CASE
      WHEN m.valid_until IS :: ZONED DATETIME OR m.valid_until IS :: LOCAL DATETIME
        THEN toString(m.valid_until)
    END
  ] END
]) AS candidates
