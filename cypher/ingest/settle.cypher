// name: ingest.settle
// mode: write
// params: key, max_tries
// returns: left INTEGER
// Look through the notes about missing vectors whose keys begin with key: count one more try, take
// the memories off that have a vector by now or are gone, and delete a note that has no memory left,
// or was tried max_tries times (null: as often as it takes). left: how many memories the notes still have.
MATCH (note:MemoriaMeta) WHERE note.key STARTS WITH $p.key
// Setting the key to its own value locks the note before its memories are read.
SET note.key = note.key
WITH note, COLLECT {
  UNWIND note.ids AS id
  MATCH (m:Memory {scope: note.scope, id: id})
  WHERE m.embedding IS NULL AND m.text IS NOT NULL
  RETURN m.id
} AS ids, coalesce(note.tries, 0) + 1 AS tries
WITH note, ids, tries, size(ids) > 0 AND coalesce(tries < $p.max_tries, true) AS stays
FOREACH (_ IN CASE WHEN stays THEN [1] ELSE [] END | SET note.ids = ids, note.tries = tries)
FOREACH (_ IN CASE WHEN stays THEN [] ELSE [1] END | DETACH DELETE note)
RETURN sum(CASE WHEN stays THEN size(ids) ELSE 0 END) AS left
