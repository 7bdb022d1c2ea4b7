// name: remember.naming
// mode: read
// params: limit, rows, scope
// returns: found LIST<LIST>
// The memories that may name titles, by words in a row. rows: name, lucene. found: [name, [id, text]
// of each memory]; at most limit of the best, whose texts the caller is to read.
UNWIND $p.rows AS row
CALL (row) {
  CALL db.index.fulltext.queryNodes('memory_text', row.lucene, {limit: toInteger($p.limit)})
  YIELD node AS m
  WITH m
  WHERE m.scope = $p.scope AND m.id IS NOT NULL
  RETURN collect([m.id, m.text]) AS texts
}
RETURN collect([row.name, texts]) AS found
