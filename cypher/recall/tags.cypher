// name: recall.tags
// mode: read
// params: ids, limit, scope
// returns: tags LIST
// The tags of the edges of some memories: the vocabulary in which energy that starts there is
// steered. At most limit edges of each memory are read, because a hub may have very many.
UNWIND $p.ids AS id
// use: find_memory(m, id)
CALL (m) {
  // use: edges(m, r, other)
  WHERE r.tags IS :: LIST<ANY> NOT NULL
  WITH r LIMIT toInteger($p.limit)
  RETURN DISTINCT r.tags AS tags
}
UNWIND tags AS tag
WITH DISTINCT toStringOrNull(tag) AS tag
WHERE tag IS NOT NULL
RETURN collect(tag) AS tags
