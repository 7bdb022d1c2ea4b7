// name: ranking.alike
// mode: read
// params: ids, others, probe, scope
// returns: probed LIST<LIST>, rows LIST<LIST>
// How alike the embeddings of some memories are to those of others. rows: [id, [[other, cosine]]].
// Each is compared with each, so the caller must limit the number of ids. probed: [id, cosine with
// probe] of all of them; empty if probe is null.
// use: memories_among(m, $p.ids + $p.others)
  AND // use: is_vector(m.embedding)
WITH m.id AS id, m.embedding AS embedding
ORDER BY id
WITH collect([id, embedding]) AS found
WITH [each IN found WHERE each[0] IN $p.ids] AS asked,
  [each IN found WHERE each[0] IN $p.others] AS others,
  [each IN found WHERE size(each[1]) = size($p.probe)
    | [each[0], 2 * vector.similarity.cosine(each[1], $p.probe) - 1]] AS probed
UNWIND asked AS one
WITH probed, one, [other IN others WHERE other[0] <> one[0] AND size(other[1]) = size(one[1])
  | [other[0], 2 * vector.similarity.cosine(one[1], other[1]) - 1]] AS row
RETURN probed, collect([one[0], row]) AS rows
