// name: learn.events
// mode: read
// params: key, limit, most
// returns: rows LIST
// The newest events of a scope, the newest first: [id, kind, at, undone_at, number of changes, some
// changes]. A change: [change, source, target, relation, weight before, weight after]. most: changes
// of one event. A consolidation may have one for each edge.
OPTIONAL MATCH (:MemoriaMeta {key: $p.key})-[:LOGGED]->(e:LearningEvent)
WITH e ORDER BY e.sequence DESC LIMIT toInteger($p.limit)
CALL (e) {
  MATCH (e)-[:CHANGED]->(ch:LearningChange)
  WITH ch ORDER BY ch.change, ch.change_source, ch.change_target LIMIT toInteger($p.most)
  RETURN collect([
    ch.change, ch.change_source, ch.change_target, ch.change_relation, ch.weight, ch.change_weight
  ]) AS changes
}
WITH e, changes WHERE e IS NOT NULL
RETURN collect([
  e.id, e.kind, e.at, e.undone_at, COUNT { (e)-[:CHANGED]->() }, changes
]) AS rows
