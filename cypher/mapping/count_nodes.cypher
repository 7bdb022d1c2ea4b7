// name: mapping.count_nodes
// mode: read
// params:
// returns: count INTEGER
// How many nodes have a label, which takes the place of memoria's own; the server keeps this number.
// use: any_memory(m)
RETURN count(m) AS count
