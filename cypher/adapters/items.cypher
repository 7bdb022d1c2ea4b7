// name: adapters.items
// mode: read
// params: after, before, beginning, limit, scope
// returns: ids LIST<STRING>
// The next memories whose ids lie between two and begin so: the items below one namespace.
// after: as in graph.page. before is the string of a parameter and may be compared in another order
// (see export.edges), which alone would let items of other namespaces in. left(): with STARTS WITH
// the server would seek the beginning, and read all pages again for each.
// use: after_last()
CALL (after) {
  MATCH (m:Memory)
  WHERE m.scope = $p.scope AND m.id > after AND m.id < $p.before
    AND left(m.id, size($p.beginning)) = $p.beginning
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
RETURN collect(m.id) AS ids
