// name: doctor.fix_unused_connector
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: delete connectors that join no memory, as ingest.forget does.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND m:Session|Speaker|Topic
  AND m.connector_name IS NOT NULL
  AND NOT EXISTS { (m)--(other) WHERE NOT other:Session|Speaker|Topic }
WITH m, m.scope AS scope ORDER BY scope, m.id
// Takes the lock, in the order of the writers, so that below nobody is joining a memory to it; see
// ingest.relations. The value is read before, since $p.scope is null where the remedy is for all.
SET m.scope = scope
WITH m
WHERE m.connector_name IS NOT NULL
  AND NOT EXISTS { (m)--(other) WHERE NOT other:Session|Speaker|Topic }
DETACH DELETE m
RETURN count(*) AS changed
