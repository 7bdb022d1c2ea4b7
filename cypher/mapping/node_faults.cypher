// name: mapping.node_faults
// mode: read
// params: key, limit, scope, text
// returns: examined INTEGER, no_key INTEGER, no_scope INTEGER, no_text INTEGER, duplicates INTEGER, example STRING | NULL
// What makes nodes of a label unreadable, among at most limit of them: nodes without a key or a scope
// that is a text, without any text, and nodes beyond the first that share key and scope. example: a
// key that several share. key and scope: names of properties; null: no such fault is possible.
// use: any_memory(m)
WITH m LIMIT toInteger($p.limit)
WITH m, $p.key IS NOT NULL AND NOT m[$p.key] IS :: STRING NOT NULL AS no_key,
     $p.scope IS NOT NULL AND NOT m[$p.scope] IS :: STRING NOT NULL AS no_scope,
     none(name IN $p.text WHERE m[name] IS NOT NULL) AS no_text
WITH CASE WHEN $p.key IS NULL OR no_key THEN elementId(m) ELSE m[$p.key] END AS key,
     CASE WHEN $p.scope IS NOT NULL AND NOT no_scope THEN m[$p.scope] END AS scope,
     no_key, count(*) AS number, sum(CASE WHEN no_scope THEN 1 ELSE 0 END) AS no_scope,
     sum(CASE WHEN no_text THEN 1 ELSE 0 END) AS no_text
RETURN sum(number) AS examined, sum(CASE WHEN no_key THEN number ELSE 0 END) AS no_key,
       sum(no_scope) AS no_scope, sum(no_text) AS no_text, sum(number - 1) AS duplicates,
       min(CASE WHEN number > 1 THEN key END) AS example
