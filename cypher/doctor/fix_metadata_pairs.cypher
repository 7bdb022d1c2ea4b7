// name: doctor.fix_metadata_pairs
// mode: write
// params: rows
// returns: changed INTEGER
// Remedy: store the pairs of metadata, for filters to compare. rows: [element id, metadata, pairs];
// metadata that has changed since it was read is left alone.
UNWIND $p.rows AS row
MATCH (m:Memory) WHERE elementId(m) = row[0] AND m.metadata = row[1]
SET m.metadata_pairs = row[2]
RETURN count(*) AS changed
