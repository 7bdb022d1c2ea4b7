CALL db.clearQueryCaches() YIELD value RETURN value
