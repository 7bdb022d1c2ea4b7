// name: doctor.fix_words
// mode: write
// params: rows
// returns: changed INTEGER
// Remedy: store the pieces of names, so that the full-text index finds them. rows: [element id,
// text, pieces]; a text that has changed since it was read is left alone.
UNWIND $p.rows AS row
MATCH (m:Memory) WHERE elementId(m) = row[0] AND m.text = row[1]
SET m.search_words = row[2]
RETURN count(*) AS changed
