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
// use: find_memory(memory, id)
WHERE // use: is_valid(memory)
WITH collect(memory) AS anchors
CALL (anchors) {
  UNWIND CASE WHEN $p.limit > 0 THEN anchors ELSE [] END AS anchor
  // use: edges(anchor, joined, connector)
  // A label that is computed is not a label to the planner, which else may scan for the connectors.
  WITH connector, // use: is_connector(connector) AS joins
  WHERE joins AND // use: is_of_scope(connector)
    AND // use: degree(connector) <= $p.connector_edges
  RETURN collect(DISTINCT connector) AS joining
}
CALL (anchors, joining) {
  UNWIND CASE WHEN $p.limit > 0 THEN anchors + joining ELSE [] END AS near
  // use: edges(near, r, end)
  WITH DISTINCT r,
       // use: counted_weight(r.weight, $p.max_weight) AS weight
  WHERE weight IS NOT NULL
  WITH r, weight, startNode(r) AS source, endNode(r) AS target
  WHERE source <> target AND // use: in_scope(source)
    AND // use: in_scope(target)
    AND // use: is_valid(source)
    AND // use: is_valid(target)
  WITH source, target, weight, coalesce(toStringOrNull(r.relation), '') AS relation,
       CASE WHEN r.tags IS :: LIST<ANY> NOT NULL THEN r.tags ELSE [] END AS tags
  ORDER BY weight DESC, source.id, target.id, relation, tags
  LIMIT toInteger($p.limit)
  RETURN collect([
           source.id, target.id, relation, weight, tags,
           // use: degree(source), // use: degree(target)
         ]) AS edges,
         collect(DISTINCT source) + collect(DISTINCT target) AS ends
}
RETURN [anchor IN anchors | anchor.id] AS found, edges,
       [m IN anchors + ends WHERE // use: is_connector(m) | m.id] AS connectors,
       [m IN ends | [m.id,
         CASE
           WHEN // use: is_vector(m.embedding)
                AND size(m.embedding) = size($p.vector)
           THEN 2 * vector.similarity.cosine(m.embedding, $p.vector) - 1
         END]] AS cosines
