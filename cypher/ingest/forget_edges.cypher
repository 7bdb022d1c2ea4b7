// name: ingest.forget_edges
// mode: write
// params: delete_foreign, directional, elements, ids, max_edges, scope
// returns: deleted INTEGER, relations INTEGER, suppressions INTEGER, pairs INTEGER, freed INTEGER
// Delete some of the edges of memories that are about to be forgotten; those of other types than
// memoria's only where delete_foreign is set. elements: as in ingest.forget. deleted: all of them,
// of which relations, suppressions and pairs are memoria's. freed: as in ingest.forget.
CALL () {
  UNWIND $p.ids AS id
  MATCH (m:Memory {scope: $p.scope, id: id})
  RETURN m
UNION
  UNWIND $p.elements AS element
  MATCH (m:Memory) WHERE elementId(m) = element AND m.scope = $p.scope
  RETURN m
}
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
  WHERE connector.connector_name IS NOT NULL
    AND NOT EXISTS {
      MATCH (connector)--(other)
      WITH labels(other) AS kinds
      WHERE none(kind IN kinds WHERE kind IN ['Session', 'Speaker', 'Topic'])
      RETURN kinds
    }
  DETACH DELETE connector
  RETURN count(*) AS freed
}
CALL (ends) {
  UNWIND ends AS target
  WITH DISTINCT target
  // As in learn.suppress.
  OPTIONAL MATCH (by:Memory {scope: $p.scope})-[s:SUPPRESSES]->(target)
  WHERE by <> target AND s.kind IN $p.directional
    AND (s.kind <> 'overrides' OR by.`when` IS NULL OR target.`when` IS NULL)
    AND NOT EXISTS {
      (target)-[back:SUPPRESSES]->(by)
      WHERE back.kind IN $p.directional AND back.created_at >= s.created_at
    }
  WITH target, by.id AS id, CASE
    WHEN s.created_at IS :: ZONED DATETIME NOT NULL THEN s.created_at
    WHEN s IS NOT NULL THEN datetime({epochMillis: 0})
  END AS at
  ORDER BY at, id
  WITH target, collect([id, at])[0] AS first
  SET target.superseded_by = first[0], target.superseded_at = first[1]
  RETURN count(*) AS marked
}
RETURN deleted, relations, suppressions, pairs, freed
