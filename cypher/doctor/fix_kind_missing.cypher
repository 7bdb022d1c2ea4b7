// name: doctor.fix_kind_missing
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: memories without a kind become events; any other kind would do, too.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND size(labels(m)) = 1
SET m:Event
RETURN count(*) AS changed
