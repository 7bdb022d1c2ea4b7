// name: export.history
// mode: read
// params: after, id_key, ids, limit, scope
// returns: rows LIST<MAP>
// Next relationships that leave these memories and are part of the scope's history. key: source,
// target, type and elementId, see export.edges; inside as there. created_at is text, in UTC; false
// where the value is not a time.
OPTIONAL MATCH (from)-[last:SUPPRESSES|COACTIVATED]->(to) WHERE elementId(last) = $p.after[3]
WITH [
  from[$p.id_key], coalesce(toStringOrNull(to.id), ''), type(last), elementId(last)
] AS stored
WITH CASE WHEN stored = $p.after THEN stored ELSE $p.after END AS after
UNWIND $p.ids AS id
MATCH (source:Memory {scope: $p.scope, id: id})-[r:SUPPRESSES|COACTIVATED]->(target)
WITH r, target, after, [
  source[$p.id_key], coalesce(toStringOrNull(target.id), ''), type(r), elementId(r)
] AS key
WHERE key > after
WITH r, target, key ORDER BY key LIMIT toInteger($p.limit)
RETURN collect({
  key: key, target: target.id,
  inside: target:Memory AND coalesce(target.scope = $p.scope, false),
  kind: r.kind, times: r.times,
  created_at: // use: utc_text(r.created_at)
}) AS rows
