// name: doctor.unpaired
// mode: read
// params: limit, max_chars, scope
// returns: rows LIST<LIST>
// Memories with metadata that no filter finds: at most limit memories, and fewer if their metadata
// together has more than max_chars characters. rows: [element id, metadata].
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL
  AND m.metadata IS :: STRING NOT NULL AND m.metadata_pairs IS NULL
WITH m LIMIT toInteger($p.limit)
WITH collect(m) AS found, collect(size(m.metadata)) AS sizes
WITH found[..reduce(
  taken = [0, 0], size IN sizes |
  CASE WHEN taken[0] < $p.max_chars THEN [taken[0] + size, taken[1] + 1] ELSE taken END
)[1]] AS found
RETURN [m IN found | [elementId(m), m.metadata]] AS rows
