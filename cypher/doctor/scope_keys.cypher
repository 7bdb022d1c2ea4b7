// name: doctor.scope_keys
// mode: read
// params: limit, scope
// returns: scope STRING, scope_key, count INTEGER, ids LIST
// Which scope_key is stored with which scope, among at most limit memories; only the caller can
// tell which is right. Connectors need none. ids: the first five.
CALL () {
  UNWIND CASE WHEN $p.scope IS NULL THEN [] ELSE [$p.scope] END AS scope
  MATCH (m:Memory) WHERE m.scope = scope AND m.id IS NOT NULL
  RETURN m LIMIT toInteger($p.limit)
UNION ALL
  UNWIND CASE WHEN $p.scope IS NULL THEN [1] ELSE [] END AS everything
  MATCH (m:Memory) WHERE m.scope IS NOT NULL AND m.id IS NOT NULL
  RETURN m LIMIT toInteger($p.limit)
}
WITH m WHERE m.scope IS :: STRING NOT NULL AND NOT m:Session|Speaker|Topic
RETURN m.scope AS scope, m.scope_key AS scope_key, count(*) AS count, collect(m.id)[..5] AS ids
