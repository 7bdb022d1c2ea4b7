// fragment: fits_filter(m)
// Whether a memory is of the kinds and fits the filter that a caller gave.
(size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds))
AND ($p.where.plain OR coalesce(
  NOT m.id IN $p.where.exclude_ids
  AND all(tag IN $p.where.tags WHERE tag IN m.tags)
  AND all(pair IN $p.where.metadata WHERE pair IN m.metadata_pairs)
  AND (size($p.where.created_from) = 0
    OR any(time IN $p.where.created_from WHERE m.created_at >= time))
  AND (size($p.where.created_before) = 0
    OR any(time IN $p.where.created_before WHERE m.created_at < time)), false))
