// fragment: any_memory(m)
// Every memory, of all scopes.
MATCH (m:Memory)
