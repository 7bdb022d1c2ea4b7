// fragment: earlier_question(m)
// What tells an earlier question from what answers it: [id, text, loose, spoken]. The text unless it is
// longer than question_chars; whether all edges are of the relations in loose; and whether the memory is
// in the session of a conversation and all its edges are of the relations in spoken.
[
  m.id,
  CASE WHEN m.text IS :: STRING NOT NULL AND size(m.text) <= $p.question_chars THEN m.text END,
  NOT EXISTS {
    (m)-[r:RELATES]-() WHERE NOT coalesce(toStringOrNull(r.relation), '') IN $p.loose
  },
  EXISTS { (m)-[:RELATES {relation: $p.session}]->() } AND NOT EXISTS {
    (m)-[r:RELATES]-() WHERE NOT coalesce(toStringOrNull(r.relation), '') IN $p.spoken
  }
]
