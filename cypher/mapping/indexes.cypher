// name: mapping.indexes
// mode: read
// params:
// returns: name STRING, state STRING, type STRING, entity STRING, labels LIST<STRING>, properties LIST<STRING>, dimensions INTEGER | NULL, similarity STRING | NULL
// Every index of the database, with what a mapping has to know of it. entity: NODE or RELATIONSHIP.
SHOW INDEXES YIELD name, state, type, entityType, labelsOrTypes, properties, options
RETURN name, state, type, entityType AS entity, coalesce(labelsOrTypes, []) AS labels,
       coalesce(properties, []) AS properties,
       options.indexConfig['vector.dimensions'] AS dimensions,
       toLower(options.indexConfig['vector.similarity_function']) AS similarity
