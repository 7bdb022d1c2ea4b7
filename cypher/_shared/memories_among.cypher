// fragment: memories_among(m, ids)
// The memories of the scope among some ids.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IN ids
