// fragment: time_text(time)
// A time as text, whose form the client reads faster than the driver's own; null if it is not a time.
CASE
  WHEN time IS :: ZONED DATETIME OR time IS :: LOCAL DATETIME THEN toString(time)
END
