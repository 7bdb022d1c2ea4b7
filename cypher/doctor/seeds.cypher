// name: doctor.seeds
// mode: read
// params: limit, picks, scope
// returns: scope STRING, id STRING
// Memories with edges, picked by their place among the first limit entries of the unique index.
// picks: places, from 0 to below 1.
// use: indexed_memories()
WITH m
WHERE m.scope IS :: STRING NOT NULL AND m.id IS :: STRING NOT NULL AND m.id <> ''
  AND NOT m:Session|Speaker|Topic
  AND COUNT { (m)-[:RELATES]-() } > 0
WITH m.scope AS scope, m.id AS id ORDER BY scope, id
WITH collect([scope, id]) AS memories
UNWIND $p.picks AS pick
WITH DISTINCT memories[toInteger(pick * size(memories))] AS seed
WHERE seed IS NOT NULL
RETURN seed[0] AS scope, seed[1] AS id
