// fragment: mark_superseded(target)
// Mark each target with the memory that superseded it first, or take its mark away. Of two memories with
// conditions, one that overrides the other makes no mark, nor does an edge that a later one takes back.
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
