// name: ingest.reembed.end
// mode: write
// params: generation
// returns: ended INTEGER
// Take the other generation out of the record, after its index and vectors were deleted. Its number
// is never given again.
MATCH (m:MemoriaMeta {key: 'memoria'})
SET m.key = m.key
WITH m
WHERE m.reembedding = 'dropping' AND m.other_generation = $p.generation
REMOVE m.reembedding, m.other_generation, m.other_embedder, m.other_dimensions
RETURN count(*) AS ended
