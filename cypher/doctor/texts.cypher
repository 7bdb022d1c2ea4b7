// name: doctor.texts
// mode: read
// params: after, limit, max_chars, scope
// returns: rows LIST<LIST>
// The next texts of a scope, by id: at most limit, and no more once they have max_chars characters
// in all. rows: [id, element id, text]. after: the last id read, "" at first; see graph.page.
// use: after_last()
CALL (after) {
  MATCH (m:Memory)
  WHERE m.scope = $p.scope AND m.id > after AND m.text IS :: STRING NOT NULL
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
WITH collect(m) AS found, collect(size(m.text)) AS sizes
WITH found[..reduce(
  taken = [0, 0], size IN sizes |
  CASE WHEN taken[0] < $p.max_chars THEN [taken[0] + size, taken[1] + 1] ELSE taken END
)[1]] AS found
RETURN [m IN found | [m.id, elementId(m), m.text]] AS rows
