// name: doctor.fix_scope_keys
// mode: write
// params: keys
// returns: changed INTEGER
// Remedy: give memories the scope_key of their scope. keys: [scope, scope_key].
UNWIND $p.keys AS pair
MATCH (m:Memory)
WHERE m.scope = pair[0] AND m.id IS NOT NULL AND NOT m:Session|Speaker|Topic
  AND (m.scope_key IS NULL OR m.scope_key <> pair[1])
SET m.scope_key = pair[1]
RETURN count(*) AS changed
