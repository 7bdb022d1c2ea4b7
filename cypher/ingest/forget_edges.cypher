// name: ingest.forget_edges
// mode: write
// params: delete_foreign, directional, elements, ids, max_edges, scope
// returns: deleted INTEGER, relations INTEGER, suppressions INTEGER, pairs INTEGER, freed INTEGER
// Delete some of the edges of memories that are about to be forgotten; those of other types than
// memoria's only where delete_foreign is set. deleted: all of them, of which relations, suppressions
// and pairs are memoria's. freed: as in ingest.forget.
// use: forgotten_memories()
MATCH (m)-[r]-()
WHERE $p.delete_foreign OR r:RELATES|SUPPRESSES|COACTIVATED
WITH DISTINCT r LIMIT toInteger($p.max_edges)
WITH collect(r) AS gone
WITH gone, [r IN gone WHERE r:SUPPRESSES] AS suppressing
WITH gone, [r IN suppressing | startNode(r)] + [r IN suppressing | endNode(r)] AS ends,
     size([r IN gone WHERE r:RELATES]) AS relations, size(suppressing) AS suppressions,
     size([r IN gone WHERE r:COACTIVATED]) AS pairs,
     [r IN gone WHERE r:RELATES | startNode(r)] + [r IN gone WHERE r:RELATES | endNode(r)] AS joined
CALL (joined) {
  UNWIND joined AS connector
  WITH DISTINCT connector
  WHERE connector:Session|Speaker|Topic AND connector.scope = $p.scope
    AND NOT connector.id IN $p.ids
  WITH connector ORDER BY connector.id
  SET connector.scope = $p.scope
  RETURN collect(connector) AS connectors
}
CALL (gone) {
  UNWIND gone AS r
  DELETE r
  RETURN count(*) AS deleted
}
CALL (connectors) {
  UNWIND connectors AS connector
  WITH connector
  // use: free_connector(connector)
  RETURN count(*) AS freed
}
CALL (ends) {
  UNWIND ends AS target
  WITH DISTINCT target
  // As in learn.suppress.
  // use: mark_superseded(target)
}
RETURN deleted, relations, suppressions, pairs, freed
