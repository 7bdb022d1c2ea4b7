// name: graph.declare_roles
// mode: write
// params: key, need, order, scope
// returns: declared BOOLEAN
// again: same
// Declare the roles of a scope's relations; replaces all earlier declarations. Null: the role is
// not declared.
MERGE (roles:MemoriaMeta {key: $p.key})
SET roles.scope = $p.scope, roles.need = $p.need, roles.`order` = $p.order
RETURN true AS declared
