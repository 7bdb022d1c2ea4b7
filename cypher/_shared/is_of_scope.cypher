// fragment: is_of_scope(m)
// Whether a node that an index found is a memory of the scope.
m.scope = $p.scope
