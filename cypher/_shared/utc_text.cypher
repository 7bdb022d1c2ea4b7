// fragment: utc_text(time)
// A time as text in UTC; false if the value is not a time.
CASE
  WHEN time IS NULL THEN null
  WHEN time IS :: ZONED DATETIME OR time IS :: LOCAL DATETIME
    THEN toString(datetime({datetime: time, timezone: 'Z'}))
  ELSE false
END
