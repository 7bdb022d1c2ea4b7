// name: doctor.settings
// mode: read
// params:
// returns: name STRING, value STRING | NULL
// The memory limits of the server; a hosted server may refuse to tell them.
SHOW SETTINGS YIELD name, value
WHERE name IN [
  'server.memory.heap.max_size', 'server.memory.pagecache.size',
  'dbms.memory.transaction.total.max', 'db.memory.transaction.max'
]
RETURN name, value
