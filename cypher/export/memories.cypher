// name: export.memories
// mode: read
// params: after, embeddings, known, limit, max_chars, scope
// returns: rows LIST<MAP>
// The next memories of a scope, by id (strings are in the order of their code points): at most
// limit memories, and fewer if their texts together have more than max_chars characters. Times
// are text, in UTC; false if the value is not a time. others: properties that are neither among the known ones nor vectors.
// The sort names scope, too: otherwise the server would not see that the index is already in this
// order, and would sort the rest of the scope each time.
// after: the last id that was read; "" at first.
// use: after_last()
CALL (after) {
  MATCH (m:Memory)
  WHERE m.scope = $p.scope AND m.id > after
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
WITH m, [text IN [coalesce(m.text, m.connector_name), m.`when`, m.metadata] |
         coalesce(size(toStringOrNull(text)), 0)] AS sizes
WITH collect(m) AS page, collect(sizes[0] + sizes[1] + sizes[2]) AS sizes
WITH page, reduce(
  taken = [0, 0], size IN sizes |
  CASE WHEN taken[0] < $p.max_chars THEN [taken[0] + size, taken[1] + 1] ELSE taken END
)[1] AS count
UNWIND page[..count] AS m
RETURN collect({
  id: m.id, labels: labels(m), text: coalesce(m.text, m.connector_name),
  tags: m.tags, topics: m.topics, entities: m.entities, category: m.category, priority: m.priority, `when`: m.`when`,
  created_at: // use: utc_text(m.created_at),
  valid_until: // use: utc_text(m.valid_until),
  metadata: m.metadata,
  history: m {
    .active_hours, .linked_before, .use_count, .use_times, .confirmed, .overridden, .right_for,
    .wrong_for
  },
  linked_at: // use: utc_text(m.linked_at),
  embedding: CASE WHEN $p.embeddings THEN m.embedding END,
  others: [name IN keys(m) WHERE NOT name IN $p.known AND NOT name =~ 'embedding_g[0-9]+']
}) AS rows
