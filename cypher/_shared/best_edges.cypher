// fragment: best_edges(current, energy, degree)
// The best edge from a memory to each neighbour that gets more than min_activation (source: 001, section
// 6.2). In: a memory, its energy and its degree. Out: neighbour; edge: [-transfer, relation, direction,
// tags, weight, tag similarity]. The order of the arithmetic must stay: Python computes the same doubles,
// bit for bit.
// A parent is not expanded if even the best possible edge would carry too little energy.
// An edge without a weight may be the best; the factor allows for rounding of a similarity of 1.
WITH *, CASE WHEN $p.max_weight > 0.01 THEN $p.max_weight ELSE 0.01 END AS best
WHERE ((energy * best) / sqrt(toFloat(degree))) * 1.000000000000001 > $p.min_activation
// The weight alone decides about most edges of a hub, because tags can only lower the energy. The
// factor allows for rounding; below 1e-290 doubles lose precision, so nothing is left out there.
WITH *, CASE WHEN $p.min_activation > 1e-290
          THEN (($p.min_activation * sqrt(toFloat(degree))) / energy) * 0.999999999999 ELSE 0.0
        END AS least
// Properties of the edges decide first; neighbours are read only for the edges that are left.
// use: edges(current, r, neighbour)
WHERE coalesce(r.weight, 0.01) >= least
WITH neighbour, r,
     CASE WHEN r.tags IS :: LIST<ANY> NOT NULL THEN r.tags ELSE [] END AS tags,
     // use: counted_weight(r.weight, $p.max_weight) AS weight
WITH neighbour, r, tags, weight, size([t IN $p.query_tags WHERE t IN tags]) AS shared
WITH neighbour, r, tags, weight,
     // Floored Jaccard of the tags (source: 001, section 3).
     CASE
       WHEN size($p.query_tags) = 0 THEN 1.0
       WHEN size(tags) = 0 THEN $p.tag_sim_floor
       ELSE $p.tag_sim_floor + ((1.0 - $p.tag_sim_floor) * shared)
            / (size(tags) + size($p.query_tags) - shared)
     END AS similarity
WITH neighbour, r, tags, weight, similarity,
     ((energy * weight) / sqrt(toFloat(degree))) * similarity AS transfer
WHERE transfer > $p.min_activation
// Of parallel edges the strongest counts; ties by relation, direction and tags.
WITH neighbour, min([
       -transfer,
       coalesce(toStringOrNull(r.relation), ''),
       CASE WHEN startNode(r) = current THEN 'out' ELSE 'in' END,
       tags, weight, similarity
     ]) AS edge
WHERE // use: in_scope(neighbour)
  AND // use: is_valid(neighbour)
  // A connector with one edge leads nowhere, and must take no branch from what does.
  AND NOT (
    // use: is_connector(neighbour)
    AND // use: degree(neighbour) = 1
  )
