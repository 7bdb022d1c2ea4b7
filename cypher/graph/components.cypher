// name: graph.components
// mode: read
// params:
// returns: name, versions, edition
// Parts of the server; the one called Neo4j Kernel has the server's own version.
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions, edition
