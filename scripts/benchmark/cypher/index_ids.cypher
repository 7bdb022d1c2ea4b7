SHOW INDEXES YIELD name, id RETURN name, id
