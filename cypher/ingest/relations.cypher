// name: ingest.relations
// mode: write
// params: ids, now, origin, rows, scope, skip_missing
// returns: missing LIST<STRING>, written INTEGER, created INTEGER
// Write edges between memories of one scope. An edge is identified by source, target and relation.
// ids: every end, sorted. A row names its two ends by their places in ids, so that each memory is
// looked up once, and not once for each of its edges. Without skip_missing, nothing is written if
// an end is missing.
// An edge that is written again with the weight that it was given before keeps what it has learned
// since. With another weight it counts as given again, and learning starts from there.
// created_at of a row: text in ISO 8601; null keeps the stored time. history: as in
// ingest.memories. A new edge has no uses until it is counted as created.
// use: locked_ends()
CALL (missing, ends) {
  UNWIND CASE WHEN $p.skip_missing OR size(missing) = 0 THEN $p.rows ELSE [] END AS row
  WITH row, ends[row.source][0] AS source, ends[row.target][0] AS target
  WHERE source IS NOT NULL AND target IS NOT NULL
  MERGE (source)-[r:RELATES {relation: row.relation}]->(target)
    ON CREATE SET r.origin = $p.origin, r.created_at = coalesce(datetime(row.created_at), $p.now),
                  r.tags = row.tags, r.weight = row.weight
    ON MATCH SET r.tags = row.tags, r.created_at = coalesce(datetime(row.created_at), r.created_at),
                 r.uses = coalesce(r.uses, 0)
  WITH r, row, r.uses IS NULL AS created, coalesce(r.given_weight = row.weight, false) AS known
  FOREACH (_ IN CASE WHEN created THEN [1] ELSE [] END | SET r.uses = 0)
  FOREACH (_ IN CASE WHEN created OR known THEN [] ELSE [1] END |
    SET r.weight = row.weight,
        r.lif_weight = CASE WHEN r.base_weight IS NULL THEN r.lif_weight END
    REMOVE r.base_weight, r.given_weight
  )
  FOREACH (history IN CASE WHEN row.history IS NULL THEN [] ELSE [row.history] END |
    SET r.weight = row.weight, r += history
  )
  RETURN count(*) AS written, sum(CASE WHEN created THEN 1 ELSE 0 END) AS created
}
RETURN missing, written, created
