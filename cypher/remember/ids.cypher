// name: remember.ids
// mode: read
// params: kind, prefix, scope
// returns: rows LIST<LIST>
// The memories of a kind whose ids begin with a prefix. rows: [id, metadata as it is stored].
MATCH (m:Memory)
USING INDEX SEEK m:Memory(scope, id)
WHERE m.scope = $p.scope AND m.id STARTS WITH $p.prefix
  AND $p.kind IN labels(m)
RETURN collect([m.id, m.metadata]) AS rows
