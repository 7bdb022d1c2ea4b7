// name: mapping.names
// mode: read
// params:
// returns: labels LIST<STRING>, types LIST<STRING>
// Every label and every type of relationship that the database knows, used or not.
CALL () { CALL db.labels() YIELD label RETURN collect(label) AS labels }
CALL () { CALL db.relationshipTypes() YIELD relationshipType AS type RETURN collect(type) AS types }
RETURN labels, types
