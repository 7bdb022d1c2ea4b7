// fragment: after_last()
// Begin behind the last id that was read. It is compared in its stored form (see export.edges), so that ids
// come once, in one order.
OPTIONAL MATCH (last:Memory {scope: $p.scope, id: $p.after})
WITH coalesce(last[head(['id'])], $p.after) AS after
