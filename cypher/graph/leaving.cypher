// name: graph.leaving
// mode: read
// params: ids, scope
// returns: rows LIST<LIST>
// Memories of a scope, each with the edges that leave it: [id, edges]. edges: [target, relation,
// weight, tags, created_at as text or null]; a weight below 0 is that of an edge that is over.
UNWIND $p.ids AS id
// use: find_memory(m, id)
RETURN collect([m.id, COLLECT {
  // use: out_edges(m, r, t)
  // As in graph.neighbours.
  WITH t, r, coalesce(toStringOrNull(r.relation), '') AS relation
  WHERE // use: in_scope(t)
  RETURN [t.id, relation, r.weight, r.tags, // use: time_text(r.created_at)]
}]) AS rows
