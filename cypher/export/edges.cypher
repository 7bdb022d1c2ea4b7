// name: export.edges
// mode: read
// params: after, id_key, ids, known, limit, scope
// returns: rows
// Next edges that leave these memories. key: source, target and relation, then what tells apart
// edges that are equal in those; in this order, and each a string whatever is stored.
// The server orders strings as stored by code point, but those of a parameter by UTF-16, and an id
// that was looked up is the parameter's: read by a name that is only known later, it is the stored.
// inside: whether the target is a memory of this scope. others: properties beside the known ones.
// Times are text, in UTC; false where there is no time.
// So the key of the last edge read is read again; deleted or changed meanwhile, it is compared as it
// was.
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
  created_at: CASE
    WHEN r.created_at IS NULL THEN null
    WHEN r.created_at IS :: ZONED DATETIME OR r.created_at IS :: LOCAL DATETIME
      THEN toString(datetime({datetime: r.created_at, timezone: 'Z'}))
    ELSE false
  END,
  history: r {.origin, .uses, .lif_weight, .base_weight, .given_weight, .promoted_uses},
  last_used_at: CASE
    WHEN r.last_used_at IS NULL THEN null
    WHEN r.last_used_at IS :: ZONED DATETIME OR r.last_used_at IS :: LOCAL DATETIME
      THEN toString(datetime({datetime: r.last_used_at, timezone: 'Z'}))
    ELSE false
  END,
  decayed_at: CASE
    WHEN r.decayed_at IS NULL THEN null
    WHEN r.decayed_at IS :: ZONED DATETIME OR r.decayed_at IS :: LOCAL DATETIME
      THEN toString(datetime({datetime: r.decayed_at, timezone: 'Z'}))
    ELSE false
  END,
  others: [name IN keys(r) WHERE NOT name IN $p.known]
}) AS rows
