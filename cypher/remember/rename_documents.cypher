// name: remember.rename_documents
// mode: write
// params: key, kind, rows, scope
// returns: renamed INTEGER
// Give documents that were written under an earlier form of their id the one that they have now, with
// all their parts; edges and what was learned stay. rows: [earlier id, id, the pair of metadata that
// names the source, or null where there is none], sorted. That pair tells whose the earlier id is,
// since documents of two sources could have the same. Where the id that it has now is taken, nothing
// is renamed. The log of learning at the clock of the scope (key) gets the new ids, too, so that an
// undo finds the memories. Sent a second time, the query changes nothing.
// Where a document has its earlier id, the clock is locked first, as in learn.reinforce: no event logs
// an id that a document loses meanwhile.
// Setting the scope to its own value takes the lock; see ingest.relations.
UNWIND $p.rows AS row
MATCH (m:Memory {scope: $p.scope, id: row[0]})
WITH DISTINCT row ORDER BY row[0], row[1]
WITH collect(row) AS rows
WHERE size(rows) > 0
MERGE (c:MemoriaMeta {key: $p.key})
SET c.key = $p.key
WITH rows
UNWIND rows AS row
CALL (row) {
  MATCH (m:Memory {scope: $p.scope, id: row[0]})
  SET m.scope = $p.scope
  WITH m, [pair IN coalesce(m.metadata_pairs, []) WHERE pair STARTS WITH '"source":'] AS sources
  WHERE $p.kind IN labels(m) AND sources = CASE WHEN row[2] IS NULL THEN [] ELSE [row[2]] END
    AND NOT EXISTS { (:Memory {scope: $p.scope, id: row[1]}) }
  SET m.id = row[1]
  WITH m
  CALL (m, row) {
    MATCH (m)-[:SUPPRESSES]->(target:Memory)
    WHERE target.superseded_by = row[0]
    SET target.superseded_by = row[1]
    RETURN count(*) AS marks
  }
  RETURN count(*) AS heads
}
CALL (row, heads) {
  UNWIND CASE heads WHEN 0 THEN [] ELSE [row[0] + '#'] END AS beginning
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(scope, id)
  WHERE m.scope = $p.scope AND m.id STARTS WITH beginning AND $p.kind IN labels(m)
  WITH m, m.id AS early, row[1] + '#' + substring(m.id, size(beginning)) AS now
  SET m.id = now
  RETURN collect([early, now]) AS parts
}
WITH collect(CASE heads WHEN 0 THEN [] ELSE [row[..2]] + parts END) AS documents
WITH reduce(all = [], moved IN documents | all + moved) AS moved
CALL (moved) {
  WITH moved, [pair IN moved | pair[0]] AS early
  WHERE size(moved) > 0
  MATCH (:MemoriaMeta {key: $p.key})-[:LOGGED]->(:LearningEvent)-[:CHANGED]->(ch:LearningChange)
  WHERE ch.change_source IN early OR ch.change_target IN early
  SET ch.change_source = coalesce(
        [pair IN moved WHERE pair[0] = ch.change_source | pair[1]][0], ch.change_source),
      ch.change_target = coalesce(
        [pair IN moved WHERE pair[0] = ch.change_target | pair[1]][0], ch.change_target)
  RETURN count(*) AS changes
}
RETURN size(moved) AS renamed
