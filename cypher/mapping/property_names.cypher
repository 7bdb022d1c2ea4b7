// name: mapping.property_names
// mode: read
// params:
// returns: names LIST<STRING>
// Every name of a property that the database knows, used or not.
CALL db.propertyKeys() YIELD propertyKey
RETURN collect(propertyKey) AS names
