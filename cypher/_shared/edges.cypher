// fragment: edges(m, r, other)
// The edges of a memory, in both directions.
MATCH (m)-[r:RELATES]-(other)
