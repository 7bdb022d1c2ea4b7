// name: strategies.anchors
// mode: read
// params: connector_edges, held, ids, limit, max_weight, scope, vector
// returns: found LIST, edges LIST<LIST>, cosines LIST<LIST>, connectors LIST
// The strongest edges that begin or end at anchors (source: 004), or at connectors that an edge joins
// to an anchor, each once. A connector only leads on, unless it has more than connector_edges edges:
// then it joins too much to mean anything.
// found    ids of the anchors that exist.
// edges    [source, target, relation, weight, tags, degree of source, degree of target], by weight,
//          at most limit of them; without loops and edges into another scope.
// cosines  [id, cosine with the query] of the memories at their ends; null without a vector, or
//          without an embedding of the same size.
// connectors  ids of the anchors, and of the ends of edges, that are connectors.
UNWIND $p.ids AS id
MATCH (memory:Memory {scope: $p.scope, id: id})
WHERE NOT coalesce(memory.superseded_at <= $p.held.at OR memory.valid_until <= $p.held.at, false)
  AND ($p.held.plain OR NOT coalesce(
    memory.created_at > $p.held.made_by OR memory.`when` IN $p.held.outside, false))
WITH collect(memory) AS anchors
CALL (anchors) {
  UNWIND CASE WHEN $p.limit > 0 THEN anchors ELSE [] END AS anchor
  MATCH (anchor)-[:RELATES]-(connector)
  // A label that is computed is not a label to the planner, which else may scan for the connectors.
  WITH connector, connector:Session|Speaker|Topic AS joins
  WHERE joins AND connector.scope = $p.scope
    AND COUNT { (connector)-[:RELATES]-() } <= $p.connector_edges
  RETURN collect(DISTINCT connector) AS joining
}
CALL (anchors, joining) {
  UNWIND CASE WHEN $p.limit > 0 THEN anchors + joining ELSE [] END AS near
  MATCH (near)-[r:RELATES]-()
  WITH DISTINCT r,
       CASE
         WHEN r.weight IS NULL THEN 0.01
         WHEN r.weight > $p.max_weight AND r.weight <= 1.7976931348623157e308 THEN $p.max_weight
         WHEN r.weight >= 0 AND r.weight <= $p.max_weight THEN toFloat(r.weight)
       END AS weight
  WHERE weight IS NOT NULL
  WITH r, weight, startNode(r) AS source, endNode(r) AS target
  WHERE source <> target AND source.scope = $p.scope AND target.scope = $p.scope
    AND source:Memory AND target:Memory
    AND source.id IS :: STRING NOT NULL AND target.id IS :: STRING NOT NULL
    AND NOT coalesce(source.superseded_at <= $p.held.at OR source.valid_until <= $p.held.at, false)
    AND ($p.held.plain OR NOT coalesce(
      source.created_at > $p.held.made_by OR source.`when` IN $p.held.outside, false))
    AND NOT coalesce(target.superseded_at <= $p.held.at OR target.valid_until <= $p.held.at, false)
    AND ($p.held.plain OR NOT coalesce(
      target.created_at > $p.held.made_by OR target.`when` IN $p.held.outside, false))
  WITH source, target, weight, coalesce(toStringOrNull(r.relation), '') AS relation,
       CASE WHEN r.tags IS :: LIST<ANY> NOT NULL THEN r.tags ELSE [] END AS tags
  ORDER BY weight DESC, source.id, target.id, relation, tags
  LIMIT toInteger($p.limit)
  RETURN collect([
           source.id, target.id, relation, weight, tags,
           COUNT { (source)-[:RELATES]-() }, COUNT { (target)-[:RELATES]-() }
         ]) AS edges,
         collect(DISTINCT source) + collect(DISTINCT target) AS ends
}
RETURN [anchor IN anchors | anchor.id] AS found, edges,
       [m IN anchors + ends WHERE m:Session|Speaker|Topic | m.id] AS connectors,
       [m IN ends | [m.id,
         CASE
           WHEN m.embedding IS :: LIST<INTEGER NOT NULL> NOT NULL | LIST<FLOAT NOT NULL> NOT NULL
                AND size(m.embedding) = size($p.vector)
           THEN 2 * vector.similarity.cosine(m.embedding, $p.vector) - 1
         END]] AS cosines
