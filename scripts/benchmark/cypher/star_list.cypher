// A list of the strongest edges, kept on their hub.
MATCH (hub:Memory {scope: $scope, id: $hub})
CALL (hub) {
  MATCH (hub)-[r:RELATES]-()
  WITH r ORDER BY r.weight DESC
  LIMIT $size
  RETURN collect(elementId(r)) AS strongest
}
SET hub.strongest = strongest
