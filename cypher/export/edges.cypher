// name: export.edges
// mode: read
// params: after, id_key, ids, known, limit, scope
// returns: rows LIST<MAP>
// The next edges that leave these memories. key: source, target and relation, and then whatever
// distinguishes edges for which these are equal; all parts are strings, and the rows are in their
// order. inside: whether the target is a memory of this scope. others: properties that are not
// among the known ones.
// The server orders stored strings by code point, but the strings of a parameter by UTF-16. An id
// that was found by a lookup counts as a string of the parameter; read by a property name that is
// only known at run time, the same id counts as a stored string. For that reason the key of the
// last edge is read again. If that edge was deleted or changed meanwhile, its old key is used as it
// is.
// Times are text, in UTC; false where the value is not a time.
OPTIONAL MATCH (from)-[last:RELATES]->(to) WHERE elementId(last) = $p.after[3]
WITH [
  from[$p.id_key], coalesce(toStringOrNull(to.id), ''),
  coalesce(toStringOrNull(last.relation), 'related'), elementId(last)
] AS stored
WITH CASE WHEN stored = $p.after THEN stored ELSE $p.after END AS after
UNWIND $p.ids AS id
MATCH (source:Memory {scope: $p.scope, id: id})-[r:RELATES]->(target)
WITH r, target, after, [
  source[$p.id_key], coalesce(toStringOrNull(target.id), ''), coalesce(toStringOrNull(r.relation), 'related'),
  elementId(r)
] AS key
WHERE key > after
WITH r, target, key ORDER BY key LIMIT toInteger($p.limit)
RETURN collect({
  key: key, target: target.id,
  inside: target:Memory AND coalesce(target.scope = $p.scope, false),
  relation: r.relation, weight: r.weight, tags: r.tags,
  created_at: // use: utc_text(r.created_at),
  history: r {.origin, .uses, .lif_weight, .base_weight, .given_weight, .promoted_uses},
  last_used_at: // use: utc_text(r.last_used_at),
  decayed_at: // use: utc_text(r.decayed_at),
  others: [name IN keys(r) WHERE NOT name IN $p.known]
}) AS rows
