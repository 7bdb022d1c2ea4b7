// As schema-25, but for quantisation.
CYPHER 25 CREATE VECTOR INDEX memory_quantised IF NOT EXISTS
FOR (n:Quantised) ON n.embedding WITH [n.scope]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimensions,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: true
}}
