// name: link.write
// mode: write
// params: event, ids, increment, key, linked, now, origin, relation, rows, scope
// returns: edges INTEGER, created INTEGER
// Write edges between memories of one scope that belong together, one for each pair, whichever way
// it points. rows: [source, target, weight, tags, again]. again: whether to add increment to the
// weight of an existing edge, up to 1; otherwise that weight only rises to the new weight, if it is
// higher. linked: [id, active_hours or null]: memories that are linked now, and the hours that they
// get.
// Links of a scope are written one after the other: the node of the scope's clock is locked first.
// That node keeps the last events, so that a query that is sent again because its answer was lost
// adds nothing twice. ids: every memory that is touched, sorted; the memories are locked next, in
// that order, as the writers of memories and edges lock them (see ingest.relations).
MERGE (c:MemoriaMeta {key: $p.key})
SET c.key = $p.key
WITH c, coalesce(c.link_events, []) AS events
WITH c, events, $p.event IN events AS applied
SET c.link_events = CASE WHEN applied THEN events ELSE ([$p.event] + events)[..100] END
WITH CASE WHEN applied THEN [] ELSE $p.rows END AS rows
CALL () {
  UNWIND $p.ids AS id
  MATCH (m:Memory {scope: $p.scope, id: id})
  SET m.scope = $p.scope
  RETURN count(*) AS locked
}
CALL () {
  UNWIND $p.linked AS row
  MATCH (m:Memory {scope: $p.scope, id: row[0]})
  SET m.linked_at = coalesce(m.linked_at, $p.now),
      m.active_hours = CASE WHEN m.active_hours >= row[1] THEN m.active_hours
                            ELSE coalesce(row[1], m.active_hours) END
  REMOVE m.linked_before
  RETURN count(*) AS linked
}
CALL (rows) {
  UNWIND rows AS row
  MATCH (a:Memory {scope: $p.scope, id: row[0]})
  MATCH (b:Memory {scope: $p.scope, id: row[1]})
  MERGE (a)-[r:RELATES {relation: $p.relation}]-(b)
    ON CREATE SET r.origin = $p.origin, r.created_at = $p.now
  WITH r, row, r.uses IS NULL AS created, r.weight AS weight
  SET r.uses = coalesce(r.uses, 0),
      r.tags = CASE WHEN r.origin = $p.origin THEN row[3] ELSE coalesce(r.tags, row[3]) END,
      r.weight = CASE
        WHEN row[4] AND weight + $p.increment <= 1 THEN weight + $p.increment
        WHEN row[4] AND weight < 1 THEN 1.0
        WHEN weight >= row[2] THEN weight
        ELSE row[2]
      END
  RETURN count(DISTINCT row) AS edges,
         count(DISTINCT CASE WHEN created THEN row END) AS created
}
RETURN edges, created
