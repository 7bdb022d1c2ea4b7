// fragment: out_degree(m)
// The number of edges that leave a memory.
COUNT { (m)-[:RELATES]->() }
