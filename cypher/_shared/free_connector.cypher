// fragment: free_connector(connector)
// Delete a connector that joins no memory any more. Its labels are read as values: as a pattern, the planner
// may look for connectors by a scan.
WHERE connector.connector_name IS NOT NULL
  AND NOT EXISTS {
    MATCH (connector)--(other)
    WITH labels(other) AS kinds
    WHERE none(kind IN kinds WHERE kind IN ['Session', 'Speaker', 'Topic'])
    RETURN kinds
  }
DETACH DELETE connector
