// name: ingest.without_embedding
// mode: read
// params: after, kinds, limit, scope
// returns: rows LIST<LIST>
// Next memories of a scope that have no vector, by id; of these kinds, or without kinds of any;
// connectors need none. rows: [id, text].
// after: the last id read. Compared as it is stored, see export.edges: ids come once, in one order.
// use: after_last()
CALL (after) {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(scope, id)
  WHERE m.scope = $p.scope AND m.id > after AND m.embedding IS NULL
    AND NOT m:Session|Speaker|Topic
    AND (size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds))
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
RETURN collect([m.id, m.text]) AS rows
