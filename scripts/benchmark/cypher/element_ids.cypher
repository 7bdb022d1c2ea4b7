// The element id of each memory.
UNWIND $ids AS id
MATCH (m:Memory {scope: $scope, id: id})
RETURN collect([id, elementId(m)]) AS pairs
