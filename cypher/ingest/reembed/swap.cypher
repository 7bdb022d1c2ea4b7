// name: ingest.reembed.swap
// mode: write
// params: generation, next, states
// returns: moved INTEGER
// Make the other generation the live one and the live one the other, and move to the state next, if
// the other generation has this number and one of these states. One transaction, so every reader
// sees the one or the other.
MATCH (m:MemoriaMeta {key: 'memoria'})
SET m.key = m.key
WITH m
WHERE m.reembedding IN $p.states AND m.other_generation = $p.generation
WITH m, coalesce(m.generation, 1) AS generation, m.embedder AS embedder, m.dimensions AS dimensions
SET m.generation = m.other_generation, m.embedder = m.other_embedder,
    m.dimensions = m.other_dimensions
SET m.other_generation = generation, m.other_embedder = embedder, m.other_dimensions = dimensions,
    m.reembedding = $p.next
RETURN count(*) AS moved
