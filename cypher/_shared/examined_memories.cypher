// fragment: examined_memories()
// At most limit memories: those of a scope, which an index seek finds; or, if scope is null, of all scopes,
// by a label scan.
CALL () {
  UNWIND CASE WHEN $p.scope IS NULL THEN [] ELSE [$p.scope] END AS scope
  MATCH (m:Memory) WHERE m.scope = scope AND m.id IS NOT NULL
  RETURN m LIMIT toInteger($p.limit)
UNION ALL
  UNWIND CASE WHEN $p.scope IS NULL THEN [1] ELSE [] END AS everything
  MATCH (m:Memory)
  RETURN m LIMIT toInteger($p.limit)
}
