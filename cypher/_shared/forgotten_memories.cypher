// fragment: forgotten_memories()
// The memories to forget: by their id, or by their element id where the id can't be used.
CALL () {
  UNWIND $p.ids AS id
  MATCH (m:Memory {scope: $p.scope, id: id})
  RETURN m
UNION
  UNWIND $p.elements AS element
  MATCH (m:Memory) WHERE elementId(m) = element AND m.scope = $p.scope
  RETURN m
}
