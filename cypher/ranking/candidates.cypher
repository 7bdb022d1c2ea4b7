// name: ranking.candidates
// mode: read
// params: ids, kinds, known, max_degree, max_weight, scope, vector
// returns: candidates
// What ranking asks of the memories that a recall found, and those themselves where they are not
// known yet. candidates: [id, cosine with the query or null, degree, neighbours, memory or null];
// neighbours: [id, weight], those among ids, the strongest of parallel edges; memory as in
// graph.hydrate. What is of none of the kinds, where there are some, has no part in the ranking:
// it has neither cosine nor neighbours. Hubs with more than max_degree edges are not expanded: they
// support nobody by much, and their edges to the others are read from there.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
WITH m, size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds) AS ranks
WITH collect(CASE WHEN ranks THEN m END) AS ranked, collect({m: m, ranks: ranks}) AS found
UNWIND found AS each
// The embedding is named once, so that it is read once.
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
  // By node: to compare ids, those of all neighbours would have to be read.
  WHERE neighbour IN ranked
  WITH m, neighbour,
       CASE
         WHEN r.weight IS NULL THEN 0.01
         WHEN r.weight > $p.max_weight AND r.weight <= 1.7976931348623157e308 THEN $p.max_weight
         WHEN r.weight >= 0 AND r.weight <= $p.max_weight THEN toFloat(r.weight)
       END AS weight
  WHERE weight > 0 AND neighbour <> m
  WITH neighbour.id AS other, max(weight) AS weight
  ORDER BY other
  RETURN collect([other, weight]) AS neighbours
}
RETURN collect([
  m.id, cosine, degree, neighbours,
  CASE WHEN NOT m.id IN $p.known THEN [
    m.id, labels(m), m.text, m.tags, m.topics, m.entities, m.category, m.priority, m.`when`,
    CASE
      WHEN m.created_at IS :: ZONED DATETIME OR m.created_at IS :: LOCAL DATETIME
        THEN toString(m.created_at)
    END,
    m.metadata
  ] END
]) AS candidates
