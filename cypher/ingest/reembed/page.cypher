// name: ingest.reembed.page
// mode: read
// params: after, limit, old, scope
// returns: seen INTEGER, last LIST, rows LIST<LIST>
// The next memories of the database by scope and id: how many were seen, the [scope, id] of the last
// one, and rows [scope, id, text] of those that have the property old, a vector of the other
// generation, and no vector of this one. scope and after: the last one read, "" at first; compared as
// they are stored, see export.edges. The second half of the union begins only where the first one,
// the rest of the scope, ends; both read the index in its order, and no more of it than limit.
// use: next_in_all_scopes()
RETURN size(page) AS seen, [page[-1].scope, page[-1].id] AS last,
       [m IN page WHERE m[$p.old] IS NOT NULL AND m.embedding IS NULL | [m.scope, m.id, m.text]] AS rows
