// fragment: next_in_all_scopes()
// The next memories of the database, by scope and id. scope and after: the last that were read, "" at first;
// compared in their stored form (see export.edges). The second half of the union begins only where the first
// one, the rest of the scope, ends; both read the index in its order, and no more of it than limit.
OPTIONAL MATCH (last:Memory {scope: $p.scope, id: $p.after})
WITH coalesce(last[head(['scope'])], $p.scope) AS scope, coalesce(last[head(['id'])], $p.after) AS after
CALL (scope, after) {
  CALL (scope, after) {
    MATCH (m:Memory)
    WHERE m.scope = scope AND m.id > after
    WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
    RETURN m
  UNION ALL
    MATCH (m:Memory)
    WHERE m.scope > scope AND m.id > ''
    WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
    RETURN m
  }
  RETURN m LIMIT toInteger($p.limit)
}
WITH collect(m) AS page
