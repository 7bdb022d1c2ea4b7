// name: doctor.fix_embedding
// mode: write
// params: dimensions, scope
// returns: changed INTEGER
// Remedy: remove embeddings that are not vectors of the index's size; they can be made again.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND m.embedding IS NOT NULL
  AND CASE
        WHEN // use: is_vector(m.embedding)
        THEN coalesce(size(m.embedding) <> $p.dimensions, false)
          OR NOT any(x IN m.embedding WHERE x <> 0)
          OR NOT all(x IN m.embedding WHERE abs(x) < 1e18)
        ELSE true
      END
REMOVE m.embedding
RETURN count(*) AS changed
