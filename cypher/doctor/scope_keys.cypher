// name: doctor.scope_keys
// mode: read
// params: limit, scope
// returns: scope STRING, scope_key, count INTEGER, ids LIST
// Which scope_key is stored with which scope, among at most limit memories; only the caller can
// tell which is right. Connectors need none. ids: the first five.
// use: indexed_memories()
WITH m WHERE m.scope IS :: STRING NOT NULL AND NOT m:Session|Speaker|Topic
RETURN m.scope AS scope, m.scope_key AS scope_key, count(*) AS count, collect(m.id)[..5] AS ids
