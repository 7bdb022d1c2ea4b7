// name: mapping.count_edges
// mode: read
// params:
// returns: count INTEGER
// How many relationships have a type, which takes the place of memoria's own; the server keeps this
// number.
// use: any_edge(r)
RETURN count(r) AS count
