// name: link.cosines
// mode: read
// params: key
// returns: unrelated, near
// Cosines of unrelated texts, as measured once for an embedder; no row if it was not.
MATCH (c:MemoriaMeta {key: $p.key})
RETURN c.unrelated_cosine AS unrelated, c.near_cosine AS near
