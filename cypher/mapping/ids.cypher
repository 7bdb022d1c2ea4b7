// name: mapping.ids
// mode: read
// params:
// returns: ids LIST<STRING>
// The element ids of all nodes of a label.
// use: any_memory(m)
RETURN collect(elementId(m)) AS ids
