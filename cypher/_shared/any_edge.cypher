// fragment: any_edge(r)
// Every edge, of all scopes.
MATCH ()-[r:RELATES]->()
