// name: doctor.fix_created_at
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: a date that is stored as text becomes a datetime, in UTC if it names no zone. Any other
// value moves to created_at_was, so that nothing is lost.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL
  AND NOT (m.created_at IS :: ZONED DATETIME | LOCAL DATETIME)
WITH m, CASE
  WHEN m.created_at IS :: STRING NOT NULL
  THEN m.created_at =~ '\\d{4}-\\d\\d-\\d\\d'
    + '(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:?\\d\\d)?)?'
  ELSE false
END AS readable
SET m.created_at_was = CASE WHEN readable THEN m.created_at_was ELSE m.created_at END,
    m.created_at = CASE WHEN readable THEN datetime(m.created_at) END
RETURN count(*) AS changed
