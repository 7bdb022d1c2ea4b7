// name: doctor.duplicates
// mode: read
// params: limit
// returns: scope STRING | NULL, id STRING | NULL, number INTEGER, first STRING, last STRING
// Pairs of scope and id that several nodes share, which prevents the constraint. Reads all
// memories, so it runs only if the constraint is missing.
// scope, id: null if the value is a list or a map. first, last: element ids of two of the nodes.
MATCH (m:Memory)
WHERE m.scope IS NOT NULL AND m.id IS NOT NULL
WITH m.scope AS scope, m.id AS id, count(*) AS number,
     min(elementId(m)) AS first, max(elementId(m)) AS last
WHERE number > 1
RETURN toStringOrNull(scope) AS scope, toStringOrNull(id) AS id, number, first, last
LIMIT $p.limit
