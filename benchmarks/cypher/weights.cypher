// The edges of a scope, as learning left them.
MATCH (:Memory {scope: $scope})-[r:RELATES]->()
WITH properties(r) AS edge
RETURN edge.weight AS weight, edge.lif_weight AS lif_weight,
       edge.base_weight IS NOT NULL AS learned, edge.origin = 'learned' AS made
