// name: graph.stats_memories
// mode: read
// params: scope
// returns: memories, embedded, kinds, oldest, newest, mean_degree, max_degree
// The memories of a scope. kinds: [kind, number]; a memory with several kind labels counts as the
// first by name. Times are in UTC; only times within the years that a client can hold.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL
WITH COUNT { (m)-[:RELATES]-() } AS degree,
     m.embedding IS NOT NULL AS embedded,
     reduce(first = null, label IN labels(m) | CASE
       WHEN label = 'Memory' OR first <= label THEN first ELSE label
     END) AS kind,
     CASE
       WHEN datetime('0001-01-02T00:00Z') < m.created_at < datetime('9999-12-31T00:00Z')
         THEN m.created_at
     END AS created_at
WITH coalesce(kind, 'Memory') AS kind, count(*) AS number,
     sum(CASE WHEN embedded THEN 1 ELSE 0 END) AS embedded,
     min(created_at) AS oldest, max(created_at) AS newest,
     sum(degree) AS degrees, max(degree) AS max_degree
ORDER BY number DESC, kind
WITH collect([kind, number]) AS kinds, sum(number) AS memories, sum(embedded) AS embedded,
     min(oldest) AS oldest, max(newest) AS newest,
     sum(degrees) AS degrees, max(max_degree) AS max_degree
RETURN memories, embedded, kinds,
       CASE WHEN oldest IS NOT NULL THEN datetime({datetime: oldest, timezone: 'Z'}) END AS oldest,
       CASE WHEN newest IS NOT NULL THEN datetime({datetime: newest, timezone: 'Z'}) END AS newest,
       CASE WHEN memories > 0 THEN toFloat(degrees) / memories ELSE 0.0 END AS mean_degree,
       coalesce(max_degree, 0) AS max_degree
