// fragment: indexed_memories()
// At most limit memories that the unique index holds: those of a scope or, if scope is null, of all scopes.
CALL () {
  UNWIND CASE WHEN $p.scope IS NULL THEN [] ELSE [$p.scope] END AS scope
  MATCH (m:Memory) WHERE m.scope = scope AND m.id IS NOT NULL
  RETURN m LIMIT toInteger($p.limit)
UNION ALL
  UNWIND CASE WHEN $p.scope IS NULL THEN [1] ELSE [] END AS everything
  MATCH (m:Memory) WHERE m.scope IS NOT NULL AND m.id IS NOT NULL
  RETURN m LIMIT toInteger($p.limit)
}
