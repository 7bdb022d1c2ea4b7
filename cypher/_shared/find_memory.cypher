// fragment: find_memory(m, wanted)
// The memory of the scope with this id, by one index seek; no row if there is none.
MATCH (m:Memory {scope: $p.scope, id: wanted})
