// name: doctor.fix_kind_missing
// mode: write
// params: scope
// returns: changed
// Remedy: memories without a kind become events; another kind does as well.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND size(labels(m)) = 1
SET m:Event
RETURN count(*) AS changed
