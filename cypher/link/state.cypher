// name: link.state
// mode: read
// params: dimensions, ids, scope
// returns: rows LIST<LIST>
// Which of these memories can be linked. rows: [id, linked since its text last changed, linked ever,
// has a vector that the index holds and can be asked for, or null for a connector]: a vector without
// a length, or with a number that is not finite, would end the search for all.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
WITH id, m.linked_at IS NOT NULL AS linked,
     m.linked_at IS NOT NULL OR coalesce(m.linked_before = true, false) AS ever, CASE
  WHEN m:Session|Speaker|Topic THEN null
  WHEN // use: is_vector(m.embedding)
    THEN size(m.embedding) = $p.dimensions
      AND any(x IN m.embedding WHERE x <> 0)
      AND all(x IN m.embedding WHERE abs(x) < 1e18)
  ELSE false
END AS usable
RETURN collect([id, linked, ever, usable]) AS rows
