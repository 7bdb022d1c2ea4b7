// name: ingest.reembed.advance
// mode: write
// params: generation, next, states
// returns: moved INTEGER
// Move to the state next, if the other generation has this number and one of these states. The live
// vectors stay as they are.
MATCH (m:MemoriaMeta {key: 'memoria'})
SET m.key = m.key
WITH m
WHERE m.reembedding IN $p.states AND m.other_generation = $p.generation
SET m.reembedding = $p.next
RETURN count(*) AS moved
