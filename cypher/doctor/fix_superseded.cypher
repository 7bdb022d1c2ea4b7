// name: doctor.fix_superseded
// mode: write
// params: directional, scope
// returns: changed INTEGER
// Remedy: a memory carries the mark of the memory that superseded it first, as learn.suppress sets
// it, and no other mark.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL
WITH m, COLLECT {
  MATCH (by:Memory)-[s:SUPPRESSES]->(m)
  WHERE by.scope = m.scope AND by <> m AND s.kind IN $p.directional
    AND (s.kind <> 'overrides' OR by.`when` IS NULL OR m.`when` IS NULL)
    AND NOT EXISTS {
      (m)-[back:SUPPRESSES]->(by)
      WHERE back.kind IN $p.directional AND back.created_at >= s.created_at
    }
  WITH by.id AS id, CASE
    WHEN s.created_at IS :: ZONED DATETIME NOT NULL THEN s.created_at
    ELSE datetime({epochMillis: 0})
  END AS at
  ORDER BY at, id LIMIT 1
  RETURN [id, at]
}[0] AS first
WHERE coalesce(toStringOrNull(m.superseded_by), '') + ' ' + coalesce(toStringOrNull(m.superseded_at), '')
   <> coalesce(toStringOrNull(first[0]), '') + ' ' + coalesce(toStringOrNull(first[1]), '')
SET m.superseded_by = first[0], m.superseded_at = first[1]
RETURN count(*) AS changed
