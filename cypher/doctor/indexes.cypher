// name: doctor.indexes
// mode: read
// params:
// returns: name STRING, percent FLOAT | NULL, constraint STRING | NULL, config MAP | NULL, properties LIST<STRING> | NULL, failure STRING | NULL
// Details of indexes that graph.indexes leaves out: progress, the constraint that uses an index,
// its settings and its properties.
SHOW INDEXES
YIELD name, populationPercent, owningConstraint, options, properties, failureMessage
RETURN name, populationPercent AS percent, owningConstraint AS constraint,
       options.indexConfig AS config, properties, failureMessage AS failure
