// name: ingest.reembed.begin
// mode: write
// params: dimensions, embedder, generation
// returns: begun INTEGER
// Begin the next generation of vectors, if generation is the live one and the only one. The
// record is locked before it is read, so of two calls at once one begins.
MATCH (m:MemoriaMeta {key: 'memoria'})
SET m.key = m.key
WITH m
WHERE m.reembedding IS NULL AND coalesce(m.generation, 1) = $p.generation
SET m.last_generation = coalesce(m.last_generation, m.generation, 1) + 1
SET m.reembedding = 'filling', m.other_generation = m.last_generation,
    m.other_embedder = $p.embedder, m.other_dimensions = $p.dimensions
RETURN count(*) AS begun
