// name: doctor.parallel
// mode: read
// params: limit, scope
// returns: examined INTEGER, count INTEGER, examples LIST<LIST>
// Edges that repeat the source, target and relation of another edge, among at most limit edges;
// examined: their number. count: the edges beyond the first of each group. examples: [source,
// relation, target, scope of source, scope of target].
CALL () {
  UNWIND CASE WHEN $p.scope IS NULL THEN [] ELSE [$p.scope] END AS scope
  MATCH (m:Memory) WHERE m.scope = scope AND m.id IS NOT NULL
  MATCH (m)-[r:RELATES]->(n)
  RETURN r LIMIT toInteger($p.limit)
UNION ALL
  UNWIND CASE WHEN $p.scope IS NULL THEN [1] ELSE [] END AS everything
  MATCH (a:Memory)-[r:RELATES]->(b)
  RETURN r LIMIT toInteger($p.limit)
}
WITH startNode(r) AS a, endNode(r) AS b, r.relation AS relation, count(*) AS edges
RETURN sum(edges) AS examined, sum(edges - 1) AS count,
       collect(CASE WHEN edges > 1 THEN [
         coalesce(toStringOrNull(a.id), elementId(a)), toStringOrNull(relation),
         coalesce(toStringOrNull(b.id), elementId(b)),
         toStringOrNull(a.scope), toStringOrNull(b.scope)
       ] END)[..5] AS examples
