// The same two hops far: the product of both weights.
MATCH (node)-[r1:RELATES]-(:Memory)-[r2:RELATES]-(neighbour:Memory)
RETURN node.id AS seed, neighbour.id AS id, neighbour.text AS text, score,
       r1.weight * r2.weight AS weight
ORDER BY weight DESC, id LIMIT 50
