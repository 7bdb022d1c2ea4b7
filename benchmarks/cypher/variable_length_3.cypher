// Every path of up to 3 relationships from one seed, its energy multiplied out along the path; the
// best path to each memory counts.
MATCH path = (seed:Memory {id: $node_id})-[:RELATES*1..3]-(found:Memory)
WITH found, relationships(path) AS edges,
     [n IN nodes(path) | sqrt(toFloat(COUNT { (n)-[:RELATES]-() }))] AS roots
WITH found, reduce(energy = $activation, i IN range(0, size(edges) - 1) |
     (energy * coalesce(edges[i].weight, 0.01) / roots[i]) *
     CASE
       WHEN size($query_tags) = 0 THEN 1.0
       WHEN size(coalesce(edges[i].tags, [])) = 0 THEN $tag_sim_floor
       ELSE $tag_sim_floor + (1.0 - $tag_sim_floor)
            * toFloat(size([t IN edges[i].tags WHERE t IN $query_tags]))
            / (size(edges[i].tags) + size($query_tags)
               - size([t IN edges[i].tags WHERE t IN $query_tags]))
     END) AS energy
WHERE energy > $min_threshold
WITH found, max(energy) AS energy
RETURN found.id AS neighbor_id, found.text AS text, energy AS transfer_energy
ORDER BY transfer_energy DESC
