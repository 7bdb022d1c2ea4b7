// name: doctor.fix_id
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: a memory without an id gets a new id; an id that is a number becomes its text.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND (NOT (m.id IS :: STRING NOT NULL) OR m.id = '')
WITH m, CASE WHEN m.id = '' THEN null ELSE toStringOrNull(m.id) END AS id
SET m.id = coalesce(id, randomUUID())
RETURN count(*) AS changed
