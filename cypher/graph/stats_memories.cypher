// name: graph.stats_memories
// mode: read
// params: pending, scope
// returns: memories INTEGER, embedded INTEGER, kinds LIST<LIST>, connectors LIST<LIST>, oldest ZONED DATETIME | NULL, newest ZONED DATETIME | NULL, mean_degree FLOAT, max_degree INTEGER, pending_vectors INTEGER
// The memories of a scope, and apart from them its connectors. kinds, connectors: [kind, number]; a
// node with several kind labels counts as the first by name. All other columns are of memories alone.
// pending_vectors: how many memories the notes hold whose keys begin with pending; see ingest.pending.
// Times are in UTC; only times within the years that a client can hold.
// use: all_memories(m)
WITH // use: degree(m) AS degree,
     // use: is_connector(m) AS connects,
     m.embedding IS NOT NULL AS embedded,
     reduce(first = null, label IN labels(m) | CASE
       WHEN label = 'Memory' OR first <= label THEN first ELSE label
     END) AS kind,
     CASE
       WHEN datetime('0001-01-02T00:00Z') < m.created_at < datetime('9999-12-31T00:00Z')
         THEN m.created_at
     END AS created_at
WITH connects, coalesce(kind, 'Memory') AS kind, count(*) AS number,
     sum(CASE WHEN embedded THEN 1 ELSE 0 END) AS embedded,
     min(created_at) AS oldest, max(created_at) AS newest,
     sum(degree) AS degrees, max(degree) AS max_degree
ORDER BY number DESC, kind
WITH collect(CASE WHEN connects THEN [kind, number] END) AS connectors,
     collect(CASE WHEN NOT connects THEN [kind, number] END) AS kinds,
     collect(CASE WHEN NOT connects THEN {
       number: number, embedded: embedded, oldest: oldest, newest: newest,
       degrees: degrees, max_degree: max_degree
     } END) AS rows
CALL (rows) {
  UNWIND rows AS row
  RETURN sum(row.number) AS memories, sum(row.embedded) AS embedded,
         min(row.oldest) AS oldest, max(row.newest) AS newest,
         sum(row.degrees) AS degrees, max(row.max_degree) AS max_degree
}
CALL () {
  MATCH (note:MemoriaMeta) WHERE note.key STARTS WITH $p.pending
  RETURN sum(size(note.ids)) AS pending_vectors
}
RETURN memories, embedded, kinds, connectors,
       CASE WHEN oldest IS NOT NULL THEN datetime({datetime: oldest, timezone: 'Z'}) END AS oldest,
       CASE WHEN newest IS NOT NULL THEN datetime({datetime: newest, timezone: 'Z'}) END AS newest,
       CASE WHEN memories > 0 THEN toFloat(degrees) / memories ELSE 0.0 END AS mean_degree,
       coalesce(max_degree, 0) AS max_degree,
       pending_vectors
