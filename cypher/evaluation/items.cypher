// name: evaluation.items
// mode: read
// params: after, kinds, limit, scope
// returns: rows LIST<LIST>
// The next memories of these kinds, by id: [id, text, embedding]; the embedding may be null.
// after: the last id that was read; "" at first. It is compared in its stored form (see
// export.edges), so that ids come once, in one order.
OPTIONAL MATCH (last:Memory {scope: $p.scope, id: $p.after})
WITH coalesce(last[head(['id'])], $p.after) AS after
CALL (after) {
  MATCH (m:Memory)
  WHERE m.scope = $p.scope AND m.id > after
    AND any(label IN labels(m) WHERE label IN $p.kinds)
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
RETURN collect([m.id, m.text, m.embedding]) AS rows
