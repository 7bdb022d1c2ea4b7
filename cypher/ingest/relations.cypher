// name: ingest.relations
// mode: write
// params: ids, now, origin, rows, scope, skip_missing
// returns: missing, written, created
// Write edges between memories of one scope; an edge is known by source, target and relation.
// ids: every end, sorted; a row names its two by their places there, so that a memory is looked up
// once, not once more for each of its edges. All are locked first, in that order, by setting the
// scope to what it is, so that writers of the same memories wait for each other instead of
// deadlocking. The value must not be read from the node: for that the server takes, and gives
// back, one lock more, out of order. Without skip_missing nothing is written when an end is
// missing. ends: a list around each, as collect leaves out null.
// An edge that comes again with the weight it was given before keeps what it has learned since;
// another weight is one anew, from which learning starts. created_at of a row: null keeps the one
// stored; history as in ingest.memories.
UNWIND range(0, size($p.ids) - 1) AS place
WITH place, $p.ids[place] AS id
OPTIONAL MATCH (m:Memory {scope: $p.scope, id: id})
SET m.scope = $p.scope
WITH id, m ORDER BY place
WITH collect(CASE WHEN m IS NULL THEN id END) AS missing, collect([m]) AS ends
CALL (missing, ends) {
  UNWIND CASE WHEN $p.skip_missing OR size(missing) = 0 THEN $p.rows ELSE [] END AS row
  WITH row, ends[row.source][0] AS source, ends[row.target][0] AS target
  WHERE source IS NOT NULL AND target IS NOT NULL
  MERGE (source)-[r:RELATES {relation: row.relation}]->(target)
    ON CREATE SET r.origin = $p.origin, r.created_at = $p.now
  WITH r, row, r.uses IS NULL AS created, coalesce(r.given_weight = row.weight, false) AS known
  SET r.tags = row.tags, r.uses = coalesce(r.uses, 0)
  FOREACH (_ IN CASE WHEN known THEN [] ELSE [1] END |
    SET r.weight = row.weight,
        r.lif_weight = CASE WHEN r.base_weight IS NULL THEN r.lif_weight END
    REMOVE r.base_weight, r.given_weight
  )
  FOREACH (time IN CASE WHEN row.created_at IS NULL THEN [] ELSE [row.created_at] END |
    SET r.created_at = time
  )
  FOREACH (history IN CASE WHEN row.history IS NULL THEN [] ELSE [row.history] END |
    SET r.weight = row.weight, r += history
  )
  RETURN count(*) AS written, sum(CASE WHEN created THEN 1 ELSE 0 END) AS created
}
RETURN missing, written, created
