// name: mapping.sample_edges
// mode: read
// params: limit
// returns: rows LIST<LIST>
// Some relationships of a type. rows: [labels of the source, labels of the target, properties].
// properties: [name, type of the value] of each.
// use: any_edge(r)
WITH r LIMIT toInteger($p.limit)
RETURN collect([labels(startNode(r)), labels(endNode(r)), [name IN keys(r) | [
  name, valueType(r[name])
]]]) AS rows
