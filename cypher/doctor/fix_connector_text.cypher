// name: doctor.fix_connector_text
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: the text of a connector becomes its name, and its embedding goes, as if it were written again.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND m:Session|Speaker|Topic AND m.text IS NOT NULL
SET m.connector_name = toStringOrNull(m.text)
REMOVE m.text, m.search_words, m.linked_at, m.linked_before
FOREACH (name IN [name IN keys(m) WHERE name =~ 'embedding(_g[0-9]+)?'] | REMOVE m[name])
RETURN count(*) AS changed
