// fragment: out_edges(m, r, other)
// The edges that leave a memory.
MATCH (m)-[r:RELATES]->(other)
