// name: learn.conditions
// mode: read
// params: ids, scope
// returns: rows LIST<LIST>
// The conditions under which memories hold. rows: [id, when as it is stored].
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
WHERE m.`when` IS NOT NULL
RETURN collect([id, m.`when`]) AS rows
