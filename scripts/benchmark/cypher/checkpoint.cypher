CALL db.checkpoint()
