// ranking.candidates with neighbours compared by id, and without the memories.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
WITH id, m, COUNT { (m)-[:RELATES]-() } AS degree,
     CASE
       WHEN m.embedding IS :: LIST<INTEGER NOT NULL | FLOAT NOT NULL> NOT NULL
            AND size(m.embedding) = size($p.vector)
       THEN 2 * vector.similarity.cosine(m.embedding, $p.vector) - 1
     END AS cosine
CALL (m, degree) {
  WITH * WHERE degree <= $p.max_degree
  MATCH (m)-[r:RELATES]-(neighbour)
  WHERE neighbour.id IN $p.ids
  WITH m, neighbour,
       CASE
         WHEN r.weight IS NULL THEN 0.01
         WHEN r.weight > $p.max_weight AND r.weight <= 1.7976931348623157e308 THEN $p.max_weight
         WHEN r.weight >= 0 AND r.weight <= $p.max_weight THEN toFloat(r.weight)
       END AS weight
  WHERE weight > 0 AND neighbour <> m AND neighbour.scope = $p.scope AND neighbour:Memory
  WITH neighbour.id AS other, max(weight) AS weight
  ORDER BY other
  RETURN collect([other, weight]) AS neighbours
}
RETURN collect([id, cosine, degree, neighbours]) AS candidates
