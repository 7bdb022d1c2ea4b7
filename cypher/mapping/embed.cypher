// name: mapping.embed
// mode: write
// params: rows
// returns: stored INTEGER
// again: same
// Store vectors in a property of memoria's own. rows: [element id, vector, hash
// of embedder and text].
UNWIND $p.rows AS row
MATCH (m) WHERE elementId(m) = row[0]
SET m.memoria_embedding = row[1], m.memoria_embedding_of = row[2]
RETURN count(m) AS stored
