// name: graph.hydrate
// mode: read
// params: ids, scope
// returns: memories LIST<LIST>
// The memories with these ids, as in memory_row.
UNWIND $p.ids AS id
// use: find_memory(m, id)
RETURN collect(
  // use: memory_row(m)
) AS memories
