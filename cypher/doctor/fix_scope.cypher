// name: doctor.fix_scope
// mode: write
// params: new_scope, scope_key
// returns: changed INTEGER
// Remedy: memories without a scope get a scope of their own, where they can be looked at.
MATCH (m:Memory)
WHERE NOT (m.scope IS :: STRING NOT NULL) OR m.scope = ''
SET m.scope = $p.new_scope, m.scope_key = $p.scope_key
RETURN count(*) AS changed
