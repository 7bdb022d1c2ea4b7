// What the printed query needs to find its nodes without a scope.
CREATE INDEX benchmark_id IF NOT EXISTS FOR (n:Memory) ON (n.id)
