// Source 001, section 6.2, word for word but for the label that an index needs.
UNWIND $frontier AS f
MATCH (current:Memory {id: f.node_id})
WITH current, f.node_id AS parent_id, f.activation AS activation,
     COUNT { (current)-[:RELATES]-() } AS degree

MATCH (current)-[r:RELATES]-(neighbor)
WHERE NOT neighbor.id IN $visited_ids

WITH parent_id, r, neighbor, activation, degree,
     coalesce(r.tags, []) AS eTags
WITH parent_id, r, neighbor, activation, degree, eTags,
     size([t IN eTags WHERE t IN $query_tags]) AS inter_count
WITH parent_id, r, neighbor, activation, degree, eTags, inter_count,
     CASE
         WHEN $query_tags_count = 0 THEN 1.0
         WHEN size(eTags) = 0       THEN $tag_sim_floor
         ELSE $tag_sim_floor
              + (1.0 - $tag_sim_floor)
              * toFloat(inter_count)
              / (size(eTags) + $query_tags_count - inter_count)
     END AS tag_sim

WITH parent_id, r, neighbor,
     (activation * coalesce(r.weight, 0.01) / sqrt(toFloat(degree))) * tag_sim
         AS transfer_energy

WHERE transfer_energy > $min_threshold

RETURN parent_id,
       properties(neighbor)  AS neighbor_data,
       labels(neighbor)       AS neighbor_labels,
       neighbor.id            AS neighbor_id,
       properties(r)          AS edge_data,
       transfer_energy
ORDER BY parent_id, transfer_energy DESC
