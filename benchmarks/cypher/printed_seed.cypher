// Source 001, section 6.1, with the label that an index needs.
MATCH (n:Memory {id: $node_id})
RETURN properties(n) AS data, labels(n) AS labels
