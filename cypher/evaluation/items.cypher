// name: evaluation.items
// mode: read
// params: after, kinds, limit, scope
// returns: rows LIST<LIST>
// The next memories of these kinds, by id: [id, text, embedding, time]. time: created_at in
// milliseconds. Embedding and time may be null.
// after: the last id that was read; "" at first.
// use: after_last()
CALL (after) {
  // use: memories_after(m, after)
    AND any(label IN labels(m) WHERE label IN $p.kinds)
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
RETURN collect([
  m.id, m.text, m.embedding,
  CASE WHEN m.created_at IS :: ZONED DATETIME NOT NULL THEN m.created_at.epochMillis END
]) AS rows
