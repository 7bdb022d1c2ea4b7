// name: ingest.reembed.drop_index
// mode: schema
// params:
// returns:
// Delete the index on the vectors of a generation.
DROP INDEX memory_embedding IF EXISTS
