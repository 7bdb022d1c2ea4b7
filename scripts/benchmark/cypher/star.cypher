// A hub whose edges have a weight and nothing else yet, or all else and no weight yet. Their other
// properties are set in a transaction of its own: the server stores those of one together.
MERGE (hub:Memory {scope: $scope, id: $hub})
WITH hub
UNWIND range($from, $to - 1) AS number
CREATE (hub)-[r:RELATES]->(:Memory {scope: $scope, id: 'm' + number})
SET r += CASE WHEN $weight_first
  THEN {weight: 0.01 + (number * 7919 % 99991) / 101010.0}
  ELSE {tags: ['tag' + number % 50, 'tag' + number % 31], relation: 'next', origin: 'user',
        created_at: datetime(), uses: 0}
END
