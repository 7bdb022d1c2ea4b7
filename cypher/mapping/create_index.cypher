// name: mapping.create_index
// mode: schema
// params:
// returns:
// Create an index that a mapping needs. Each mapping has its own statements, which take the place of
// this one.
CREATE INDEX memoria_mapped IF NOT EXISTS FOR (n:Memory) ON (n.id)
