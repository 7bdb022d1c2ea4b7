CALL db.awaitIndexes(600)
