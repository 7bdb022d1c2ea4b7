// name: mapping.sample_nodes
// mode: read
// params: limit, max_chars
// returns: rows LIST<LIST>
// Some nodes of a label. rows: [element id, labels, properties]. properties: [name, type of the
// value, beginning of the value as text or null] of each.
// use: any_memory(m)
WITH m LIMIT toInteger($p.limit)
RETURN collect([elementId(m), labels(m), [name IN keys(m) | [
  name, valueType(m[name]), left(toStringOrNull(m[name]), toInteger($p.max_chars))
]]]) AS rows
