// name: graph.properties
// mode: read
// params: hops, ids, names, scope
// returns: nodes LIST<LIST>, edges LIST<LIST>
// The stored properties of memories, and of the edges of hops. names: which ones; null: all but
// vectors, and memoria's note about a vector in another program's graph. hops: [number, source, target, relation, direction, weight]. nodes: [id, properties];
// edges: [number, properties]; properties: [name, value] of each. Of parallel edges that a hop may
// have used, the one whose weight is next to the hop's. Both ends of an edge are found by their ids,
// so no edge of a hub is read but those that join the two.
CALL () {
  UNWIND $p.ids AS id
  // use: find_memory(m, id)
  RETURN collect([id, [name IN keys(m) WHERE CASE WHEN $p.names IS NULL
    THEN (m[name] = [] OR NOT m[name] IS :: LIST<FLOAT NOT NULL> NOT NULL)
      AND name <> 'memoria_embedding_of' ELSE name IN $p.names END
    | [name, m[name]]]]) AS nodes
}
CALL () {
  UNWIND $p.hops AS hop
  WITH hop, hop[1] AS source_id, hop[2] AS target_id
  // use: find_memory(source, source_id)
  // use: find_memory(target, target_id)
  // As in ingest.delete_edges.
  WITH hop, source, target, hop[3] AS relation
  MATCH (source)-[r:RELATES]-(target)
  WHERE coalesce(toStringOrNull(r.relation), '') = relation AND (startNode(r) = source) = (hop[4] = 'out')
  WITH hop, r ORDER BY abs(coalesce(toFloatOrNull(r.weight), 0.01) - hop[5]), elementId(r)
  WITH hop[0] AS number, head(collect(r)) AS r
  RETURN collect([number, [name IN keys(r) WHERE CASE WHEN $p.names IS NULL
    THEN r[name] = [] OR NOT r[name] IS :: LIST<FLOAT NOT NULL> NOT NULL ELSE name IN $p.names END
    | [name, r[name]]]]) AS edges
}
RETURN nodes, edges
