// Two hubs with the same edges, in scopes of their own: on one the weight is the first property of
// each edge, on the other the last.
MERGE (first:Memory {scope: $first, id: $hub})
MERGE (last:Memory {scope: $last, id: $hub})
WITH first, last
UNWIND range($from, $to - 1) AS number
WITH first, last, number, 0.01 + (number * 7919 % 99991) / 101010.0 AS weight,
     ['tag' + number % 50, 'tag' + number % 31] AS tags
CREATE (first)-[a:RELATES]->(:Memory {scope: $first, id: 'm' + number})
CREATE (last)-[b:RELATES]->(:Memory {scope: $last, id: 'm' + number})
SET a.weight = weight
SET a.tags = tags
SET a.relation = 'next', a.origin = 'user', a.created_at = datetime(), a.uses = 0
SET b.relation = 'next', b.origin = 'user', b.created_at = datetime(), b.uses = 0
SET b.tags = tags
SET b.weight = weight
