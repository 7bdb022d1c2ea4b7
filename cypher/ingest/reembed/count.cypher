// name: ingest.reembed.count
// mode: read
// params:
// returns: count INTEGER
// How many memories there are, in all scopes, connectors included; the server keeps this number.
MATCH (m:Memory)
RETURN count(m) AS count
