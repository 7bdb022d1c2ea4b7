// name: ingest.pending
// mode: read
// params: key
// returns: key STRING, scope STRING, rows LIST<LIST>
// The next note about memories whose vectors are still to be made, of those whose keys begin with
// key; no record without one. A note that was tried less often comes first. rows: [id, text] of its
// memories that have no vector yet.
MATCH (note:MemoriaMeta) WHERE note.key STARTS WITH $p.key
WITH note ORDER BY coalesce(note.tries, 0), note.key LIMIT 1
CALL (note) {
  UNWIND note.ids AS id
  MATCH (m:Memory {scope: note.scope, id: id})
  WHERE m.embedding IS NULL AND m.text IS :: STRING NOT NULL
  RETURN collect([m.id, m.text]) AS rows
}
RETURN note.key AS key, note.scope AS scope, rows
