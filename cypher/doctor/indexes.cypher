// name: doctor.indexes
// mode: read
// params:
// returns: name STRING, percent FLOAT | NULL, constraint STRING | NULL, config MAP | NULL, failure STRING | NULL
// Details of indexes that graph.indexes leaves out: progress, the constraint that uses an index,
// and its settings.
SHOW INDEXES
YIELD name, populationPercent, owningConstraint, options, failureMessage
RETURN name, populationPercent AS percent, owningConstraint AS constraint,
       options.indexConfig AS config, failureMessage AS failure
