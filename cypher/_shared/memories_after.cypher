// fragment: memories_after(m, after)
// The memories of the scope behind an id; ordered by scope, too, so that the index gives the order.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id > after
