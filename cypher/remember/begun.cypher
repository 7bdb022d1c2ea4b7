// name: remember.begun
// mode: read
// params: prefixes, scope
// returns: ids LIST<LIST>
// Which memories stand already whose ids begin so; one list for each prefix: those of a conversation
// whose first session is gone or was never there, or the further parts of a message.
UNWIND range(0, size($p.prefixes) - 1) AS place
CALL (place) {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(scope, id)
  WHERE m.scope = $p.scope AND m.id STARTS WITH $p.prefixes[place]
  RETURN collect(m.id) AS found
}
WITH place, found ORDER BY place
RETURN collect(found) AS ids
