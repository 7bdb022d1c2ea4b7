// name: doctor.fix_valid_until
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: a time that is stored as text, or without a zone, becomes a datetime, in UTC if it names no
// zone. Any other value moves to valid_until_was, so that nothing is lost.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL
  AND NOT (m.valid_until IS :: ZONED DATETIME)
WITH m, CASE
  WHEN m.valid_until IS :: LOCAL DATETIME NOT NULL THEN true
  WHEN m.valid_until IS :: STRING NOT NULL
  THEN m.valid_until =~ '\\d{4}-\\d\\d-\\d\\d'
    + '(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:?\\d\\d)?)?'
  ELSE false
END AS readable
SET m.valid_until_was = CASE WHEN readable THEN m.valid_until_was ELSE m.valid_until END,
    m.valid_until = CASE
      WHEN NOT readable THEN null
      WHEN m.valid_until IS :: LOCAL DATETIME NOT NULL
        THEN datetime({datetime: m.valid_until, timezone: 'Z'})
      ELSE datetime(m.valid_until)
    END
RETURN count(*) AS changed
