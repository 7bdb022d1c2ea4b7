// name: context.duplicates
// mode: read
// params: ids, min_cosine, scope
// returns: pairs LIST<LIST>
// Pairs of memories whose embeddings are close. pairs: [id, id]. Compares every pair, so the caller
// must limit the number of ids.
// use: memories_among(m, $p.ids)
  AND // use: is_vector(m.embedding)
WITH m.id AS id, m.embedding AS embedding
ORDER BY id
WITH collect([id, embedding]) AS found
UNWIND range(1, size(found) - 1) AS i
UNWIND range(0, i - 1) AS k
WITH found[k] AS one, found[i] AS other
WHERE size(one[1]) = size(other[1])
  AND 2 * vector.similarity.cosine(one[1], other[1]) - 1 >= $p.min_cosine
RETURN collect([one[0], other[0]]) AS pairs
