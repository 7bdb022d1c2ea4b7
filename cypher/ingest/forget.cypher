// name: ingest.forget
// mode: write
// params: cleared, delete_foreign, directional, elements, ids, kinds, known, max_edges, pending, scope, stay
// returns: edges INTEGER, deleted INTEGER, kept LIST, freed INTEGER
// Forget memories with all their edges, unless that is too much for one transaction: then nothing
// changes, and edges tells how many there are. A node that holds more than a memory (a label next to
// Memory and one kind, a property that is neither in known nor a vector, a relationship of another
// type) stays, unless delete_foreign is set. It loses the edges, the properties in cleared, all
// vectors, the label Memory and those in kinds, but for the last label that it has. kept: ids of
// such nodes; their id stays on them. freed: number of connectors that now join no memory any more,
// and are deleted, too; stay: ids of those that the same transaction writes again. The notes about
// missing vectors, whose keys begin with pending, lose the ids of forgotten memories.
// use: forgotten_memories()
WITH m, NOT $p.delete_foreign AND (
  size(labels(m)) > 2
  OR any(name IN keys(m) WHERE NOT name IN $p.known AND NOT name =~ 'embedding_g[0-9]+')
  OR EXISTS { (m)-[:!RELATES&!SUPPRESSES&!COACTIVATED]-() }
) AS keep
WITH collect([m, keep]) AS found,
     sum(CASE WHEN keep THEN COUNT { (m)-[:RELATES|SUPPRESSES|COACTIVATED]-() }
              ELSE COUNT { (m)--() } END) AS edges
WITH edges, CASE WHEN edges <= $p.max_edges THEN found ELSE [] END AS found
CALL (found) {
  WITH [pair IN found | pair[0]] AS gone
  UNWIND gone AS m
  MATCH (m)-[:SUPPRESSES]-(target:Memory)
  WHERE NOT target IN gone
  RETURN collect(DISTINCT target) AS targets
}
CALL (found) {
  WITH [pair IN found | pair[0]] AS gone
  UNWIND gone AS m
  MATCH (m)-[:RELATES]-(neighbour)
  // Tested when all are known: else the planner may scan for connectors.
  WITH gone, collect(DISTINCT neighbour) AS neighbours
  UNWIND neighbours AS connector
  WITH connector
  WHERE connector:Session|Speaker|Topic AND connector.scope = $p.scope
    AND NOT connector IN gone AND NOT connector.id IN $p.stay
  WITH connector ORDER BY connector.id
  // Takes the lock, so that nobody joins a memory to it meanwhile; see ingest.relations.
  SET connector.scope = $p.scope
  RETURN collect(connector) AS connectors
}
CALL (found) {
  WITH [pair IN found | pair[0].id] AS gone
  MATCH (note:MemoriaMeta)
  WHERE note.key STARTS WITH $p.pending AND any(id IN note.ids WHERE id IN gone)
  // Locks the note before its ids are read, as in ingest.settle.
  SET note.key = note.key
  WITH note, [id IN note.ids WHERE NOT id IN gone] AS ids
  SET note.ids = ids
  WITH note WHERE size(note.ids) = 0
  DETACH DELETE note
  RETURN count(*) AS settled
}
CALL (found) {
  UNWIND [pair IN found WHERE pair[1] | pair[0]] AS m
  CALL (m) {
    MATCH (m)-[r:RELATES|SUPPRESSES|COACTIVATED]-()
    DELETE r
  }
  SET m += $p.cleared
  FOREACH (name IN [name IN keys(m) WHERE name =~ 'embedding_g[0-9]+'] | REMOVE m[name])
  REMOVE m:Memory
  WITH m, [label IN labels(m) WHERE label IN $p.kinds] AS kinds
  FOREACH (_ IN CASE WHEN size(labels(m)) > size(kinds) THEN [1] ELSE [] END | REMOVE m:$(kinds))
  RETURN collect(coalesce(toStringOrNull(m.id), elementId(m))) AS kept
}
CALL (found) {
  UNWIND [pair IN found WHERE NOT pair[1] | pair[0]] AS m
  DETACH DELETE m
  RETURN count(*) AS deleted
}
CALL (connectors) {
  UNWIND connectors AS connector
  WITH connector
  // use: free_connector(connector)
  RETURN count(*) AS freed
}
CALL (targets) {
  UNWIND targets AS target
  // What a forgotten memory superseded holds again; as in learn.suppress.
  // use: mark_superseded(target)
}
RETURN edges, deleted, kept, freed
