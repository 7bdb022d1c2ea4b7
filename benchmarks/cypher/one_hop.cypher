// What HybridCypherRetriever appends to its search: neighbours, the strongest edges first.
MATCH (node)-[r:RELATES]-(neighbour:Memory)
RETURN node.id AS seed, neighbour.id AS id, neighbour.text AS text, score, r.weight AS weight
ORDER BY weight DESC, id LIMIT 50
