// name: recall.conditions
// mode: read
// params: scope
// returns: conditions LIST<STRING>
// Every distinct `when` of a scope's memories, as it is stored. Takes one pass over the scope.
// use: all_memories(m) AND m.`when` IS :: STRING NOT NULL
RETURN collect(DISTINCT m.`when`) AS conditions
