// fragment: locked_ends()
// Lock the memories of ids, in their order, so that writers of the same memories wait for each other
// instead of deadlocking. Setting the scope to its own value takes the lock. The value must not be
// read from the node: for that, the server would take and release another lock, out of order.
// missing: ids that no memory has; ends: each memory in a list of its own, because collect leaves
// out null.
UNWIND range(0, size($p.ids) - 1) AS place
WITH place, $p.ids[place] AS id
OPTIONAL MATCH (m:Memory {scope: $p.scope, id: id})
SET m.scope = $p.scope
WITH id, m ORDER BY place
WITH collect(CASE WHEN m IS NULL THEN id END) AS missing, collect([m]) AS ends
