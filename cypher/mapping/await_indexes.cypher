// name: mapping.await_indexes
// mode: read
// params:
// returns:
// Wait until every index is online.
CALL db.awaitIndexes(600)
