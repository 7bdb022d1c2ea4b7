// fragment: forgotten_memories()
// The memories to forget: those of ids, and those of elements, which are element ids of memories without a usable
// id.
CALL () {
  UNWIND $p.ids AS id
  MATCH (m:Memory {scope: $p.scope, id: id})
  RETURN m
UNION
  UNWIND $p.elements AS element
  MATCH (m:Memory) WHERE elementId(m) = element AND m.scope = $p.scope
  RETURN m
}
