// name: remember.write
// mode: write
// params: answered, answered_weight, answers, directional, edges, generation, ids, kind, max_answers, max_tags, memory, named, notes, now, origin, others_needed, pending, question, scope, scope_key, suppression, superseded
// returns: created BOOLEAN | NULL, edges INTEGER, live BOOLEAN, missing LIST<STRING>, other BOOLEAN, owed BOOLEAN, superseded LIST, superseded_by
// Remember one text. memory: id, text, search_words, metadata, metadata_pairs, tags, created_at,
// valid_until, embedding (search_words, the times and the embedding may be null), own: whether the id is the text's own, and not that of a memory
// that says it already, which is not made again if it was deleted meanwhile; given: whether the id was chosen by a caller for a memory that is not there yet; if
// somebody has since written another text under it, other is true. named: the memories that must
// exist. If one is missing, or other is true, nothing is written. Nor is it if live is false: the
// vector is of a generation (null without a vector) that is not the live one any more. ids: named and the memory's own id,
// sorted; they are locked in this order, as every writer locks them.
// A memory that is there already keeps its text, kind and times, and gets further tags; what was
// outdated holds again. Two writers of one new text make one memory, because (scope, id) is unique.
// edges: [target, relation, weight]; an edge that is there keeps its weight.
// notes, pending, owed: as in ingest.memories; a note is written if the memory is new.
// answers: what answered a question, best first; those that feedback proved right for it come
// first, those that it proved wrong are left out. A question gets at most max_answers of such edges.
// A memory that has one takes another one only for each others_needed of its other edges: all edges
// of a memory share its energy.
// superseded: ids; marks and edges as in learn.suppress. An existing edge gets a new date, so that
// of two memories which supersede each other the later word counts.
CALL () {
  UNWIND $p.named AS id
  OPTIONAL MATCH (m:Memory {scope: $p.scope, id: id})
  RETURN collect(CASE WHEN m IS NULL THEN id END) AS missing
}
OPTIONAL MATCH (there:Memory {scope: $p.scope, id: $p.memory.id})
OPTIONAL MATCH (meta:MemoriaMeta {key: 'memoria'})
WITH missing, $p.memory.own OR there IS NOT NULL AS stays, coalesce($p.memory.given AND there.text <> $p.memory.text, false) AS other,
     coalesce($p.generation = coalesce(meta.generation, 1), true) AS live
CALL (missing, other, live, stays) {
  UNWIND CASE WHEN live AND NOT other AND size(missing) = 0 AND stays THEN $p.ids ELSE [] END AS id
  CALL (id) {
    WITH id WHERE id = $p.memory.id
    MERGE (m:Memory {scope: $p.scope, id: id})
    SET m.scope = $p.scope
    RETURN m
    UNION
    WITH id WHERE id <> $p.memory.id
    MATCH (m:Memory {scope: $p.scope, id: id})
    SET m.scope = $p.scope
    RETURN m
  }
  RETURN count(m) AS locked
}
OPTIONAL CALL (locked) {
  WITH locked WHERE locked > 0
  MATCH (m:Memory {scope: $p.scope, id: $p.memory.id})
  WITH m, m.text IS NULL AS created,
       CASE WHEN m.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN m.tags ELSE [] END AS tags
  SET m.scope_key = $p.scope_key,
      m.tags = COLLECT { UNWIND tags + $p.memory.tags AS tag RETURN DISTINCT tag ORDER BY tag }[..$p.max_tags],
      m.valid_until = CASE
        WHEN $p.memory.valid_until IS NOT NULL THEN $p.memory.valid_until
        WHEN coalesce(m.valid_until <= $p.now, false) THEN null
        ELSE m.valid_until END
  FOREACH (_ IN CASE WHEN created THEN [1] ELSE [] END |
    SET m.text = $p.memory.text, m.search_words = $p.memory.search_words,
        m.metadata = $p.memory.metadata, m.metadata_pairs = $p.memory.metadata_pairs,
        m.embedding = $p.memory.embedding, m.created_at = coalesce($p.memory.created_at, $p.now)
    SET m:$($p.kind)
  )
  RETURN m, created
}
CALL (m) {
  UNWIND $p.edges AS edge
  MATCH (o:Memory {scope: $p.scope, id: edge[0]})
  WHERE o <> m
  MERGE (m)-[r:RELATES {relation: edge[1]}]->(o)
  WITH r, edge, r.uses IS NULL AS made,
       CASE WHEN r.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN r.tags ELSE [] END AS tags
  SET r.tags = COLLECT { UNWIND tags + $p.memory.tags AS tag RETURN DISTINCT tag ORDER BY tag }[..$p.max_tags],
      r.weight = coalesce(r.weight, edge[2]), r.uses = coalesce(r.uses, 0),
      r.origin = coalesce(r.origin, $p.origin), r.created_at = coalesce(r.created_at, $p.now)
  RETURN sum(CASE WHEN made THEN 1 ELSE 0 END) AS related
}
CALL (m) {
  UNWIND range(0, size($p.answers) - 1) AS place
  MATCH (a:Memory {scope: $p.scope, id: $p.answers[place]})
  WITH m, a, place,
       CASE WHEN a.right_for IS :: LIST<STRING NOT NULL> NOT NULL THEN a.right_for ELSE [] END AS right,
       CASE WHEN a.wrong_for IS :: LIST<STRING NOT NULL> NOT NULL THEN a.wrong_for ELSE [] END AS wrong
  WHERE a <> m AND NOT $p.kind IN labels(a) AND NOT $p.question IN wrong
    AND NOT EXISTS { (m)-[:RELATES {relation: $p.answered}]->(a) }
  WITH m, a, place, right, COUNT { (a)<-[:RELATES {relation: $p.answered}]-() } AS asked,
       COUNT { (a)-[:RELATES]-() } AS degree
  WHERE asked = 0 OR $p.others_needed * asked < degree - asked
  WITH m, a ORDER BY NOT $p.question IN right, place
  WITH m, collect(a)[..$p.max_answers] AS best,
       $p.max_answers - COUNT { (m)-[:RELATES {relation: $p.answered}]->() } AS room
  UNWIND CASE WHEN room > 0 THEN best[..room] ELSE [] END AS a
  CREATE (m)-[:RELATES {
    relation: $p.answered, weight: $p.answered_weight, tags: $p.memory.tags, origin: $p.origin,
    uses: 0, created_at: $p.now
  }]->(a)
  RETURN count(a) AS answered
}
CALL (m) {
  UNWIND $p.superseded AS id
  MATCH (t:Memory {scope: $p.scope, id: id})
  WHERE t <> m
  MERGE (m)-[s:SUPPRESSES {kind: $p.suppression}]->(t)
  SET s.created_at = $p.now
  WITH m, collect(t) AS targets
  UNWIND targets + m AS target
  CALL (target) {
    // use: mark_superseded(target)
  }
  RETURN collect(CASE WHEN target <> m AND target.superseded_by IS NOT NULL THEN target.id END)
    AS superseded
}
CALL (created) {
  UNWIND CASE WHEN created THEN $p.notes ELSE [] END AS row
  MERGE (note:MemoriaMeta {key: row.key})
  SET note.scope = $p.scope, note.ids = row.ids
  RETURN count(*) AS noted
}
RETURN live, missing, other, created, related + answered AS edges, superseded,
       m.superseded_by AS superseded_by,
       EXISTS { MATCH (note:MemoriaMeta) WHERE note.key STARTS WITH $p.pending } AS owed
