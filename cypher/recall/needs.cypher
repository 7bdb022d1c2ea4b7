// name: recall.needs
// mode: read
// params: held, ids, limit, max_edges, max_weight, scope, words
// returns: needs LIST<LIST>
// What some memories need: the targets of their edges whose relation holds one of words. needs:
// [id, degree, edges], one row per memory that needs any. edges: [id of the target, weight,
// relation, tags], at most limit of a memory, the strongest first; of parallel edges the strongest.
// A memory with more than max_edges outgoing edges is not asked, because all of them would be read.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
WHERE COUNT { (m)-[:RELATES]->() } <= $p.max_edges
CALL (m) {
  MATCH (m)-[r:RELATES]->(target)
  WHERE any(word IN $p.words WHERE toLower(toStringOrNull(r.relation)) CONTAINS word)
  WITH target, r,
       CASE
         WHEN r.weight IS NULL THEN 0.01
         WHEN r.weight > $p.max_weight AND r.weight <= 1.7976931348623157e308 THEN $p.max_weight
         WHEN r.weight >= 0 AND r.weight <= $p.max_weight THEN toFloat(r.weight)
       END AS weight
  WHERE weight > 0 AND target <> m
    AND target.scope = $p.scope AND target:Memory AND target.id IS :: STRING NOT NULL
    AND NOT target:Session|Speaker|Topic
    AND NOT coalesce(target.superseded_at <= $p.held.at OR target.valid_until <= $p.held.at, false)
    AND ($p.held.plain OR NOT coalesce(
      target.created_at > $p.held.made_by OR target.`when` IN $p.held.outside, false))
  WITH target.id AS id, min([
         -weight, toString(r.relation),
         CASE WHEN r.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN r.tags ELSE [] END
       ]) AS edge
  ORDER BY edge[0], id
  LIMIT toInteger($p.limit)
  RETURN collect([id, -edge[0], edge[1], edge[2]]) AS edges
}
WITH m, edges WHERE size(edges) > 0
RETURN collect([m.id, COUNT { (m)-[:RELATES]-() }, edges]) AS needs
