// fragment: compared_memories(m)
// Every memory of the scope, for the comparison of all vectors.
// use: all_memories(m)
