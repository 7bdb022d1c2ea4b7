// fragment: is_vector(value)
// Whether a value is a list of numbers. A union of types within the list would match none on Neo4j 5.26.
value IS :: LIST<INTEGER NOT NULL> NOT NULL | LIST<FLOAT NOT NULL> NOT NULL
