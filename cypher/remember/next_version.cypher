// name: remember.next_version
// mode: write
// params: key, scope
// returns: version INTEGER
// Count one write of documents, and return how many came before it.
// Setting the key to its own value locks the node before it is read, so that of two writers at a time
// one sees the other's version, and reads again.
MERGE (c:MemoriaMeta {key: $p.key})
SET c.key = $p.key
WITH c, coalesce(c.documents, 0) AS version
SET c.documents = version + 1, c.scope = $p.scope
RETURN version
