// name: doctor.indexes
// mode: read
// params:
// returns: name, percent, constraint, config, failure
// Details of indexes that graph.indexes leaves out: progress, the constraint that uses an index,
// and its settings.
SHOW INDEXES
YIELD name, populationPercent, owningConstraint, options, failureMessage
RETURN name, populationPercent AS percent, owningConstraint AS constraint,
       options.indexConfig AS config, failureMessage AS failure
