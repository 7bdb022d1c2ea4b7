// fragment: memory_row(m)
// The properties of a memory that a caller reads, without its embedding. A list, because the names of keys,
// and times in the driver's own form, would cost the client more than everything else.
[
  m.id, labels(m), coalesce(m.text, m.connector_name), m.tags, m.topics, m.entities, m.category,
  m.priority, m.`when`,
  // use: time_text(m.created_at),
  m.metadata,
  // use: time_text(m.valid_until)
]
