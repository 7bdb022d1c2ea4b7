// A hub and its edges: once with their weight, once with all else, in either order. Each in a
// transaction of its own: the server stores the properties of one together.
MERGE (hub:Memory {scope: $scope, id: $hub})
WITH hub
UNWIND range($from, $to - 1) AS number
MERGE (end:Memory {scope: $scope, id: 'm' + number})
MERGE (hub)-[r:RELATES]->(end)
SET r += CASE WHEN $weight
  THEN {weight: 0.01 + (number * 7919 % 99991) / 101010.0}
  ELSE {tags: ['tag' + number % 50, 'tag' + number % 31], relation: 'next', origin: 'user',
        created_at: datetime(), uses: 0}
END
