// What an index is called on disk.
SHOW INDEXES YIELD name, id RETURN name, id
