// name: link.nearest_exact
// mode: read
// params: ids, limit, scope
// returns: rows LIST<LIST>
// The nearest memories of a scope for each of several memories, by comparing all of them; exact,
// and linear in the size of the scope. rows as in link.nearest_procedure.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
CALL (m) {
  MATCH (n:Memory)
  WHERE n.scope = $p.scope AND n.id IS NOT NULL
    AND // use: is_vector(n.embedding)
    AND size(n.embedding) = size(m.embedding)
  WITH n.id AS other, vector.similarity.cosine(n.embedding, m.embedding) AS score
  WHERE score IS NOT NULL
  ORDER BY score DESC, other
  LIMIT toInteger($p.limit)
  RETURN collect([other, 2 * score - 1]) AS hits
}
RETURN collect([id, hits]) AS rows
