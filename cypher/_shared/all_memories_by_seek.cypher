// fragment: all_memories_by_seek(m, compared)
// Every memory of the scope whose id compares so, where the planner might prefer another way than the index.
MATCH (m:Memory)
USING INDEX SEEK m:Memory(scope, id)
WHERE m.scope = $p.scope AND m.id compared
