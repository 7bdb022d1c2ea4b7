// name: mapping.edge_faults
// mode: read
// params: labels, limit, weight
// returns: examined INTEGER, dangling INTEGER, no_weight INTEGER, bad_weight INTEGER
// What makes relationships of a type carry little or nothing, among at most limit of them. dangling:
// an end has none of the labels. weight: name of the property; null: every weight is the same.
// use: any_edge(r)
WITH r LIMIT toInteger($p.limit)
WITH r, startNode(r) AS a, endNode(r) AS b,
     CASE WHEN $p.weight IS NOT NULL THEN r[$p.weight] END AS weight
RETURN count(r) AS examined,
       sum(CASE WHEN none(label IN labels(a) WHERE label IN $p.labels)
                  OR none(label IN labels(b) WHERE label IN $p.labels) THEN 1 ELSE 0 END) AS dangling,
       sum(CASE WHEN $p.weight IS NOT NULL AND weight IS NULL THEN 1 ELSE 0 END) AS no_weight,
       sum(CASE WHEN weight IS NULL OR weight IS :: INTEGER | FLOAT THEN 0 ELSE 1 END) AS bad_weight
