// name: doctor.fix_kinds
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: of several kinds, keep the first by name, which is the kind that memoria shows.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND size(labels(m)) > 2
UNWIND labels(m) AS label
WITH m, label WHERE label <> 'Memory'
WITH m, label ORDER BY label
WITH m, collect(label)[1..] AS others
REMOVE m:$(others)
RETURN count(*) AS changed
