// The least that a level from a hub has to do: every edge's weight is compared, nothing else is read.
MATCH (current:Memory {scope: $p.scope, id: $p.frontier[0][1]})-[r:RELATES]-()
WHERE r.weight >= $p.least
RETURN count(*) AS edges
