// name: adapters.namespaces
// mode: read
// params: after, before, scope
// returns: namespaces LIST<STRING>
// What the ids between two begin with, each once: all but the last part, which is the key. Takes
// one pass over these ids.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id > $p.after AND m.id < $p.before
RETURN collect(DISTINCT left(m.id, size(m.id) - size(last(split(m.id, '/'))) - 1)) AS namespaces
