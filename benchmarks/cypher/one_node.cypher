// One frontier memory at a time, as a loop in the application would ask. The energy is computed
// here, so that only what counts travels.
MATCH (current:Memory {id: $node_id})
WITH current, COUNT { (current)-[:RELATES]-() } AS degree
MATCH (current)-[r:RELATES]-(neighbor:Memory)
WHERE NOT neighbor.id IN $visited_ids
WITH neighbor, r, degree, coalesce(r.tags, []) AS tags
WITH neighbor, r, degree, tags, size([t IN tags WHERE t IN $query_tags]) AS shared
WITH neighbor, ($activation * coalesce(r.weight, 0.01) / sqrt(toFloat(degree))) *
     CASE
       WHEN size($query_tags) = 0 THEN 1.0
       WHEN size(tags) = 0 THEN $tag_sim_floor
       ELSE $tag_sim_floor + (1.0 - $tag_sim_floor) * toFloat(shared)
            / (size(tags) + size($query_tags) - shared)
     END AS transfer_energy
WHERE transfer_energy > $min_threshold
RETURN neighbor.id AS neighbor_id, neighbor.text AS text, transfer_energy
ORDER BY transfer_energy DESC
