// For an index over the same vectors.
MATCH (n:Memory) WHERE n.embedding IS NOT NULL
CALL (n) { SET n:Quantised } IN TRANSACTIONS OF 10000 ROWS
