// name: graph.roles
// mode: read
// params: key
// returns: need LIST<STRING> | NULL, order LIST<STRING> | NULL
// The roles that a scope declares for its relations; null if a role is not declared.
OPTIONAL MATCH (roles:MemoriaMeta {key: $p.key})
RETURN CASE WHEN roles.need IS :: LIST<STRING NOT NULL> NOT NULL THEN roles.need END AS need,
       CASE WHEN roles.`order` IS :: LIST<STRING NOT NULL> NOT NULL THEN roles.`order` END AS `order`
