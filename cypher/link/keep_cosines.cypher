// name: link.keep_cosines
// mode: write
// params: key, near, unrelated
// returns: kept INTEGER
// again: same
// Keep the cosines of unrelated texts that were measured for an embedder.
MERGE (c:MemoriaMeta {key: $p.key})
SET c.unrelated_cosine = $p.unrelated, c.near_cosine = $p.near
RETURN count(c) AS kept
