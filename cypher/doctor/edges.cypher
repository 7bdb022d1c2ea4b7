// name: doctor.edges
// mode: read
// params: limit, scope
// returns: fault STRING, count INTEGER, examples LIST<LIST>
// Faults of edges, among at most limit edges: those of a scope's memories, which an index seek
// finds; or, if scope is null, all edges that touch a memory. examples: [source, relation, target,
// scope of source, scope of target] of the first five; an end without an id by its element id. The
// row of the fault "examined" counts all edges that were examined.
CALL () {
  UNWIND CASE WHEN $p.scope IS NULL THEN [] ELSE [$p.scope] END AS scope
  MATCH (m:Memory) WHERE m.scope = scope AND m.id IS NOT NULL
  MATCH (m)-[r:RELATES]-(n)
  // Each edge counts once: at its source, or at its target if the source was not found above.
  WHERE startNode(r) = m OR NOT n:Memory OR n.id IS NULL OR n.scope IS NULL OR n.scope <> scope
  RETURN r LIMIT toInteger($p.limit)
UNION ALL
  UNWIND CASE WHEN $p.scope IS NULL THEN [1] ELSE [] END AS everything
  MATCH (a)-[r:RELATES]->(b) WHERE a:Memory OR b:Memory
  RETURN r LIMIT toInteger($p.limit)
}
WITH r, startNode(r) AS a, endNode(r) AS b, r.weight AS weight, r.tags AS tags
UNWIND [
  'examined',
  CASE
    WHEN weight IS NULL THEN 'no_weight'
    WHEN NOT (weight IS :: INTEGER | FLOAT) THEN 'bad_weight'
    WHEN weight > 1 AND weight <= 1.7976931348623157e308 THEN 'high_weight'
    WHEN NOT (weight >= 0 AND weight <= 1) THEN 'bad_weight'
  END,
  CASE
    WHEN tags IS NULL THEN null
    WHEN NOT (tags IS :: LIST<STRING NOT NULL> NOT NULL) THEN 'bad_tags'
    WHEN none(i IN range(1, size(tags) - 1) WHERE tags[i - 1] >= tags[i]) THEN null
    WHEN any(i IN range(1, size(tags) - 1) WHERE tags[i] IN tags[..i]) THEN 'duplicate_tags'
    ELSE 'unsorted_tags'
  END,
  CASE
    WHEN NOT a:Memory OR NOT b:Memory THEN 'foreign_end'
    WHEN a = b THEN 'self'
    WHEN a.scope <> b.scope OR (a.scope IS NULL) <> (b.scope IS NULL) THEN 'cross_scope'
  END
] AS fault
WITH r, a, b, fault WHERE fault IS NOT NULL
RETURN fault, count(*) AS count,
       collect(CASE WHEN fault <> 'examined' THEN [
         coalesce(toStringOrNull(a.id), elementId(a)), toStringOrNull(r.relation),
         coalesce(toStringOrNull(b.id), elementId(b)),
         toStringOrNull(a.scope), toStringOrNull(b.scope)
       ] END)[..5] AS examples
