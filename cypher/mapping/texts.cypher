// name: mapping.texts
// mode: read
// params: ids
// returns: rows LIST<LIST>
// The texts of nodes, as a mapping reads them, and what memoria's vector of each was made of. rows:
// [element id, text or null, hash of embedder and text or null without a vector].
UNWIND $p.ids AS id
MATCH (m) WHERE elementId(m) = id
RETURN collect([id, m.text, CASE WHEN m.memoria_embedding IS NOT NULL THEN m.memoria_embedding_of END]) AS rows
