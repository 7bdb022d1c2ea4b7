// name: seeds.fits
// mode: read
// params: held, kinds, scope, where
// returns: fits BOOLEAN
// Whether any memory of a scope fits where: reading ends at the first. Where none does, takes one pass over the scope.
CALL () {
  // use: all_memories_by_seek(m, > '')
    AND NOT // use: is_connector(m)
    AND // use: fits_filter(m)
    AND // use: is_valid(m)
  RETURN m LIMIT 1
}
RETURN count(m) = 1 AS fits
