// name: remember.states
// mode: read
// params: ids, scope, wanted
// returns: states LIST<LIST>, known LIST<STRING>
// Read the state on the first sessions of conversations. states: [id, metadata] of those that
// exist. known: which of the wanted memories exist.
CALL () {
  UNWIND $p.ids AS id
  MATCH (m:Memory {scope: $p.scope, id: id})
  RETURN collect([id, m.metadata]) AS states
}
CALL () {
  UNWIND $p.wanted AS id
  MATCH (m:Memory {scope: $p.scope, id: id})
  RETURN collect(id) AS known
}
RETURN states, known
