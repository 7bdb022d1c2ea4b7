// fragment: first_superseding(m)
// Who supersedes a memory first, and since when: [id, time]; the mark that mark_superseded sets, or null.
COLLECT {
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
}[0]
