// name: doctor.fix_tags
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: keep each tag of an edge once, and sort the tags, as memoria writes them.
MATCH (m:Memory)-[r:RELATES]-()
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND CASE
  WHEN r.tags IS :: LIST<STRING NOT NULL> NOT NULL
  THEN any(i IN range(1, size(r.tags) - 1) WHERE r.tags[i - 1] >= r.tags[i])
  ELSE false
END
WITH DISTINCT r
UNWIND r.tags AS tag
WITH DISTINCT r, tag ORDER BY tag
WITH r, collect(tag) AS tags
SET r.tags = tags
RETURN count(*) AS changed
