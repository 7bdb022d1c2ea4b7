// name: ingest.forget_edges
// mode: write
// params: delete_foreign, directional, ids, max_edges, scope
// returns: deleted
// Delete some of the edges of memories that are about to be forgotten; those of other types than
// memoria's only where delete_foreign is set.
UNWIND $p.ids AS id
MATCH (:Memory {scope: $p.scope, id: id})-[r]-()
WHERE $p.delete_foreign OR r:RELATES|SUPPRESSES|COACTIVATED
WITH DISTINCT r LIMIT toInteger($p.max_edges)
WITH collect(r) AS gone
WITH gone, [r IN gone WHERE r:SUPPRESSES] AS suppressing
WITH gone, [r IN suppressing | startNode(r)] + [r IN suppressing | endNode(r)] AS ends
CALL (gone) {
  UNWIND gone AS r
  DELETE r
  RETURN count(*) AS deleted
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
RETURN deleted
