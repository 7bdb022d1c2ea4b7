// name: doctor.settings
// mode: read
// params:
// returns: name, value
// Limits of the server's memory; hosted servers may refuse to tell.
SHOW SETTINGS YIELD name, value
WHERE name IN [
  'server.memory.heap.max_size', 'server.memory.pagecache.size',
  'dbms.memory.transaction.total.max', 'db.memory.transaction.max'
]
RETURN name, value
