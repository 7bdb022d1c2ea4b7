// fragment: degree(m)
// The number of edges of a memory, in both directions; the server keeps this number.
COUNT { (m)-[:RELATES]-() }
