// The whole graph for an algorithm in memory, page by page: a record for each edge would take most
// of the time.
MATCH (a:Memory)
WHERE a.id > $after
WITH a
ORDER BY a.id
LIMIT 20000
OPTIONAL MATCH (a)-[r:RELATES]->(b:Memory)
RETURN max(a.id) AS last, count(DISTINCT a) AS nodes,
       collect(CASE WHEN r IS NOT NULL THEN [a.id, b.id, coalesce(r.weight, 0.01)] END) AS edges
