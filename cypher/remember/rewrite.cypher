// name: remember.rewrite
// mode: write
// params: parts, relations, renamed, scope, stay
// returns: deleted INTEGER, freed INTEGER
// Make room for texts that are written again: delete those of their edges with one of the relations
// that the write will not have. parts: id, keep (the [relation, target] that it will have). renamed:
// id, keep (the titles that it will have), of documents whose titles changed: nobody names them by the
// old ones.
// freed: number of topics and speakers that join no memory any more, and are deleted, too; stay: ids
// of those that the write will have. Sessions stay: the first one keeps the state of its conversation.
CALL () {
  UNWIND $p.parts AS row
  MATCH (:Memory {scope: $p.scope, id: row.id})-[r:RELATES]->(target)
  WHERE r.relation IN $p.relations AND NOT [r.relation, target.id] IN row.keep
  DELETE r
  RETURN count(*) AS left, collect(DISTINCT target) AS targets
}
CALL () {
  UNWIND $p.renamed AS row
  MATCH (source)-[r:RELATES]->(:Memory {scope: $p.scope, id: row.id})
  WHERE r.relation = 'names' OR r.relation = 'titled' AND NOT source.id IN row.keep
  DELETE r
  RETURN count(*) AS came, collect(DISTINCT source) AS sources
}
CALL (targets, sources) {
  UNWIND targets + sources AS left_alone
  WITH DISTINCT left_alone AS connector
  WHERE connector:Session|Speaker|Topic AND NOT connector:Session
    AND connector.scope = $p.scope AND NOT connector.id IN $p.stay
  WITH connector ORDER BY connector.id
  SET connector.scope = $p.scope
  WITH connector
  // use: free_connector(connector)
  RETURN count(*) AS freed
}
RETURN left + came AS deleted, freed
