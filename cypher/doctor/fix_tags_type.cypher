// name: doctor.fix_tags_type
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: tags that are not a list of texts become one; they may have to be sorted afterwards.
MATCH (m:Memory)-[r:RELATES]-()
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND r.tags IS NOT NULL
  AND NOT (r.tags IS :: LIST<STRING NOT NULL> NOT NULL)
WITH DISTINCT r
SET r.tags = CASE
  WHEN r.tags IS :: LIST<ANY> NOT NULL THEN [tag IN r.tags | toString(tag)]
  ELSE [toString(r.tags)]
END
RETURN count(*) AS changed
