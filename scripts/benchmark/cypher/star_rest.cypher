// The properties that the edges of `star` lack yet.
MATCH (hub:Memory {scope: $scope, id: $hub})
UNWIND range($from, $to - 1) AS number
MATCH (:Memory {scope: $scope, id: 'm' + number})<-[r:RELATES]-(hub)
SET r += CASE WHEN $weight_first
  THEN {tags: ['tag' + number % 50, 'tag' + number % 31], relation: 'next', origin: 'user',
        created_at: datetime(), uses: 0}
  ELSE {weight: 0.01 + (number * 7919 % 99991) / 101010.0}
END
