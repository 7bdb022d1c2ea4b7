// name: ingest.history
// mode: write
// params: directional, ids, now, pairs, scope, skip_missing, suppressions
// returns: missing LIST<STRING>, written INTEGER
// Write suppressions, and how often pairs were active together, as they were elsewhere. ids and the
// ends of rows are those of ingest.relations, and so are the locks. suppressions: source, target,
// kind, symmetric (one that points the other way is the same), created_at (null keeps the one stored).
// pairs: source, target, times, which replace those that stand.
// use: locked_ends()
WITH missing, ends, $p.skip_missing OR size(missing) = 0 AS whole
CALL (ends, whole) {
  UNWIND CASE WHEN whole THEN $p.suppressions ELSE [] END AS row
  WITH row, ends[row.source][0] AS source, ends[row.target][0] AS target
  WHERE source IS NOT NULL AND target IS NOT NULL
    AND NOT (row.symmetric AND EXISTS { (target)-[:SUPPRESSES {kind: row.kind}]->(source) })
  MERGE (source)-[s:SUPPRESSES {kind: row.kind}]->(target)
    ON CREATE SET s.created_at = $p.now
  SET s.created_at = coalesce(row.created_at, s.created_at)
  WITH collect(source) + collect(target) AS joined, count(*) AS suppressions
  CALL (joined) {
    UNWIND joined AS target
    WITH DISTINCT target
    // As in learn.suppress.
    // use: mark_superseded(target)
  }
  RETURN suppressions
}
CALL (ends, whole) {
  UNWIND CASE WHEN whole THEN $p.pairs ELSE [] END AS row
  WITH row, ends[row.source][0] AS source, ends[row.target][0] AS target
  WHERE source IS NOT NULL AND target IS NOT NULL
  MERGE (source)-[pair:COACTIVATED]->(target)
  SET pair.times = row.times
  RETURN count(*) AS pairs
}
RETURN missing, suppressions + pairs AS written
