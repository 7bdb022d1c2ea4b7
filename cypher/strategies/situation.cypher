// name: strategies.situation
// mode: read
// params: ids, now_ms, scope
// returns: situations LIST<LIST>
// The values of memories, besides their activation, on which the score of synapse depends.
// situations: [id, labels, category, priority, when, hours since it was made or null, use_count,
// use_times, confirmed, overridden]; the last four are those of learning, as stored.
UNWIND $p.ids AS id
// use: find_memory(m, id)
RETURN collect([
  id, labels(m), m.category, m.priority, m.`when`,
  CASE WHEN m.created_at IS :: ZONED DATETIME NOT NULL
    THEN ($p.now_ms - m.created_at.epochMillis) / 3600000.0 END,
  m.use_count, m.use_times, m.confirmed, m.overridden
]) AS situations
