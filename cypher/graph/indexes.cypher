// name: graph.indexes
// mode: read
// params:
// returns: name STRING, state STRING, type STRING, labels LIST<STRING>, properties LIST<STRING>, dimensions INTEGER | NULL
// Every named index of the database; a constraint appears as the index that it uses.
SHOW INDEXES YIELD name, state, type, labelsOrTypes, properties, options
RETURN name, state, type, coalesce(labelsOrTypes, []) AS labels,
       coalesce(properties, []) AS properties,
       options.indexConfig['vector.dimensions'] AS dimensions
