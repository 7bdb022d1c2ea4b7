// name: doctor.duplicates
// mode: read
// params: limit
// returns: scope STRING | NULL, id STRING | NULL, number INTEGER, first STRING, last STRING
// Pairs of scope and id that stand at several nodes: with them no constraint can be made. Reads all
// memories, so it is asked only where the constraint is missing.
// scope, id: null where a list or a map stands there. first, last: element ids of two of the nodes.
MATCH (m:Memory)
WHERE m.scope IS NOT NULL AND m.id IS NOT NULL
WITH m.scope AS scope, m.id AS id, count(*) AS number,
     min(elementId(m)) AS first, max(elementId(m)) AS last
WHERE number > 1
RETURN toStringOrNull(scope) AS scope, toStringOrNull(id) AS id, number, first, last
LIMIT $p.limit
