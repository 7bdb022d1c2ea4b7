// fragment: is_valid(m)
// Whether a memory is valid at the time that is asked for: not superseded, not past its end, and, unless
// held is plain, made by then and in force under its conditions.
NOT coalesce(m.superseded_at <= $p.held.at OR m.valid_until <= $p.held.at, false)
AND ($p.held.plain OR NOT coalesce(
  m.created_at > $p.held.made_by OR m.`when` IN $p.held.outside, false))
