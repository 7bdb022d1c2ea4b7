// fragment: counted_weight(stored, most)
// The weight with which an edge counts: 0.01 if none is stored, at most most; null, which drops the edge,
// if the stored value is not a weight. A comparison with text yields null, so no type has to be tested.
CASE
  WHEN stored IS NULL THEN 0.01
  WHEN stored > most AND stored <= 1.7976931348623157e308 THEN most
  WHEN stored >= 0 AND stored <= most THEN toFloat(stored)
END
