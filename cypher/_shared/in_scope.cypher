// fragment: in_scope(m)
// Whether the node at the other end of an edge is a memory of the scope.
m.scope = $p.scope AND m:Memory AND m.id IS :: STRING NOT NULL
