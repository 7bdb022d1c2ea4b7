// name: recall.needs
// mode: read
// params: held, ids, in_degree, limit, max_edges, max_weight, need, others, roles_key, scope, usual_need
// returns: needs LIST<LIST>, declared_need LIST<STRING> | NULL, declared_order LIST<STRING> | NULL
// The memories that some memories need, or may need: the targets of edges whose relation is one of
// need. If need is null: one of those that the scope declares under roles_key; if it declares none,
// any relation but others. All in lower case. declared_*: the scope's declarations, or null. The
// column needs: [id, degree, edges], one row per memory with needs. edges: [id of the target,
// weight, relation, tags, in], at most limit per memory, the strongest first; of parallel edges of
// one relation only the strongest. in: how many of the target's first in_degree incoming edges have
// this relation; all names that end with one of usual_need count as one relation. It is null if
// needs are declared, because it is not used then.
// A memory with more than max_edges outgoing edges is not asked, because all of them would be read.
OPTIONAL MATCH (roles:MemoriaMeta {key: $p.roles_key})
WITH CASE WHEN roles.need IS :: LIST<STRING NOT NULL> NOT NULL THEN roles.need END AS declared_need,
     CASE
       WHEN roles.`order` IS :: LIST<STRING NOT NULL> NOT NULL THEN roles.`order`
     END AS declared_order
CALL (declared_need) {
  WITH coalesce($p.need, declared_need) AS need
  UNWIND $p.ids AS id
  // use: find_memory(m, id)
  WHERE // use: out_degree(m) <= $p.max_edges
  CALL (m, need) {
    // use: out_edges(m, r, target)
    WITH need, m, r, target, toLower(toStringOrNull(r.relation)) AS relation
    WHERE CASE WHEN need IS NULL THEN NOT relation IN $p.others ELSE relation IN need END
    WITH need, target, r, relation,
         // use: counted_weight(r.weight, $p.max_weight) AS weight
    WHERE weight > 0 AND target <> m
      AND // use: in_scope(target)
      AND NOT // use: is_connector(target)
      AND // use: is_valid(target)
    WITH need, target, relation, min([
           -weight, toString(r.relation),
           CASE WHEN r.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN r.tags ELSE [] END
         ]) AS edge
    ORDER BY edge[0], target.id, relation
    LIMIT toInteger($p.limit)
    RETURN collect([target.id, -edge[0], edge[1], edge[2], CASE WHEN need IS NULL THEN COUNT {
      CALL (target) {
        // use: out_edges(source, r, target)
        RETURN r LIMIT toInteger($p.in_degree)
      }
      WITH toLower(toStringOrNull(r.relation)) AS other
      WHERE other = relation OR any(name IN $p.usual_need WHERE relation ENDS WITH name)
                            AND any(name IN $p.usual_need WHERE other ENDS WITH name)
      RETURN 1 AS one
    } END]) AS edges
  }
  WITH m, edges WHERE size(edges) > 0
  RETURN collect([m.id, // use: degree(m), edges]) AS needs
}
RETURN needs, declared_need, declared_order
