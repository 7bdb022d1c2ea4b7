// name: remember.documents
// mode: read
// params: heads, key, kind, limit, scope, titles, wanted
// returns: version INTEGER, titled LIST<LIST>, stored LIST<LIST>, known LIST<STRING>
// The stored state of some documents. version: counts the writes of documents. titled: [id of
// a title, ids of the documents that have it], at most limit of them, for those titles that some
// have. stored: [id, metadata, ids of the further parts, which are of this kind] of the documents that
// exist. known: which documents of the wanted ones exist. COLLECT as in remember.begun.
OPTIONAL MATCH (c:MemoriaMeta {key: $p.key})
WITH coalesce(c.documents, 0) AS version
CALL () {
  UNWIND $p.titles AS id
  MATCH (title:Memory {scope: $p.scope, id: id})
  MATCH (title)-[r:RELATES]->(m)
  WITH id, r.relation AS relation, m
  WHERE relation = 'titled' AND m:Memory AND m.scope = $p.scope
  WITH id, m ORDER BY id, m.id
  WITH id, collect(m.id)[..toInteger($p.limit)] AS heads
  RETURN collect([id, heads]) AS titled
}
CALL () {
  UNWIND $p.heads AS id
  MATCH (m:Memory {scope: $p.scope, id: id})
  RETURN collect([id, m.metadata, COLLECT {
    MATCH (part:Memory)
    USING INDEX SEEK part:Memory(scope, id)
    WHERE part.scope = $p.scope AND part.id STARTS WITH id + '#' AND $p.kind IN labels(part)
    RETURN part.id
  }]) AS stored
}
CALL () {
  UNWIND $p.wanted AS id
  MATCH (m:Memory {scope: $p.scope, id: id})
  RETURN collect(id) AS known
}
RETURN version, titled, stored, known
