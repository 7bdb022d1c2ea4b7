// name: mapping.vector_size
// mode: read
// params: limit, name
// returns: size INTEGER | NULL
// How many numbers the vectors of some relationships of a type have; null if there are none. name:
// name of the property.
// use: any_edge(r)
WITH r LIMIT toInteger($p.limit)
WITH r[$p.name] AS vector
WHERE // use: is_vector(vector)
RETURN max(size(vector)) AS size
