// name: remember.begun
// mode: read
// params: prefixes, scope
// returns: ids LIST<LIST>
// The stored memories whose ids begin so; one list for each prefix: those of a conversation
// whose first session is gone or was never there, or the further parts of a message. COLLECT, because
// for collect(m.id), a server whose database is empty may plan to read the whole scope.
UNWIND range(0, size($p.prefixes) - 1) AS place
WITH place, COLLECT {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(scope, id)
  WHERE m.scope = $p.scope AND m.id STARTS WITH $p.prefixes[place]
  RETURN m.id
} AS found
ORDER BY place
RETURN collect(found) AS ids
