// name: doctor.fix_superseded
// mode: write
// params: directional, scope
// returns: changed INTEGER
// Remedy: a memory carries the mark of the memory that superseded it first, as learn.suppress sets
// it, and no other mark.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL
WITH m, // use: first_superseding(m) AS first
WHERE coalesce(toStringOrNull(m.superseded_by), '') + ' ' + coalesce(toStringOrNull(m.superseded_at), '')
   <> coalesce(toStringOrNull(first[0]), '') + ' ' + coalesce(toStringOrNull(first[1]), '')
SET m.superseded_by = first[0], m.superseded_at = first[1]
RETURN count(*) AS changed
