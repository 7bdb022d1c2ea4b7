// name: doctor.drop
// mode: schema
// params:
// returns:
// Remedy: drop what has the name of one of memoria's indexes, so that memoria init can make it. Two
// statements for each name, of which one finds nothing: an index may belong to a constraint.

DROP CONSTRAINT memory_scope_id IF EXISTS;
DROP INDEX memory_scope_id IF EXISTS;
DROP CONSTRAINT memoria_meta_key IF EXISTS;
DROP INDEX memoria_meta_key IF EXISTS;
DROP CONSTRAINT memory_text IF EXISTS;
DROP INDEX memory_text IF EXISTS;
DROP CONSTRAINT memory_embedding IF EXISTS;
DROP INDEX memory_embedding IF EXISTS;
