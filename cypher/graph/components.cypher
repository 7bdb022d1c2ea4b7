// name: graph.components
// mode: read
// params:
// returns: name STRING, versions LIST<STRING>, edition STRING
// The components of the server; the one named Neo4j Kernel has the version of the server.
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions, edition
