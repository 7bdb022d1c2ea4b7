// name: strategies.levels
// mode: read
// params: cap, frontier, held, levels, max_branches, max_weight, min_activation, most, query_tags, scope, tag_sim_floor
// returns: levels LIST<LIST>, memories LIST<LIST>
// needs: 2026
// All levels of explorations in one round trip. Each level repeats the core of strategies.level;
// between two levels, the query selects among the children. Python selects by itself as well, and
// accepts a level only if its own frontier is the one that was expanded here; otherwise it goes on
// with strategies.level.
//
// frontier  as in strategies.level, one row per seed; explorations are numbered from 0, in order.
// levels    as a parameter: the most levels. As a result: [frontier, level] of each level, where
//           level has the columns of strategies.level.
// memories  the memories of all frontiers, as in graph.hydrate.
// cap       the most children of one parent: a few more than max_branches.
// most      the most candidates of one exploration and level among which this query selects, as the
//           time grows with their square. With more candidates, the exploration ends here.
WITH reduce(
  state = {frontier: $p.frontier, visited: [f IN $p.frontier | [f[1]]], levels: []},
  number IN range(1, toInteger($p.levels)) |
  CASE
    WHEN size(state.frontier) = 0 THEN state
    ELSE COLLECT {
      CALL (state) {
        UNWIND state.frontier AS f
        MATCH (current:Memory {scope: $p.scope, id: f[1]})
        WHERE NOT coalesce(current.superseded_at <= $p.held.at OR current.valid_until <= $p.held.at, false)
          AND ($p.held.plain OR NOT coalesce(
            current.created_at > $p.held.made_by OR current.`when` IN $p.held.outside, false))
        WITH f, current, COUNT { (current)-[:RELATES]-() } AS degree
        CALL (state, f, current, degree) {
          WITH *, CASE WHEN $p.max_weight > 0.01 THEN $p.max_weight ELSE 0.01 END AS best
          WHERE ((f[2] * best) / sqrt(toFloat(degree))) * 1.000000000000001 > $p.min_activation
          WITH *, CASE WHEN $p.min_activation > 1e-290
                    THEN (($p.min_activation * sqrt(toFloat(degree))) / f[2]) * 0.999999999999 ELSE 0.0
                  END AS least
          MATCH (current)-[r:RELATES]-(neighbour)
          WHERE coalesce(r.weight, 0.01) >= least
          WITH neighbour, r,
               CASE WHEN r.tags IS :: LIST<ANY> NOT NULL THEN r.tags ELSE [] END AS tags,
               CASE
                 WHEN r.weight IS NULL THEN 0.01
                 WHEN r.weight > $p.max_weight AND r.weight <= 1.7976931348623157e308 THEN $p.max_weight
                 WHEN r.weight >= 0 AND r.weight <= $p.max_weight THEN toFloat(r.weight)
               END AS weight
          WITH neighbour, r, tags, weight, size([t IN $p.query_tags WHERE t IN tags]) AS shared
          WITH neighbour, r, tags, weight,
               CASE
                 WHEN size($p.query_tags) = 0 THEN 1.0
                 WHEN size(tags) = 0 THEN $p.tag_sim_floor
                 ELSE $p.tag_sim_floor + ((1.0 - $p.tag_sim_floor) * shared)
                      / (size(tags) + size($p.query_tags) - shared)
               END AS similarity
          WITH neighbour, r, tags, weight, similarity,
               ((f[2] * weight) / sqrt(toFloat(degree))) * similarity AS transfer
          WHERE transfer > $p.min_activation
          WITH neighbour, min([
                 -transfer,
                 coalesce(toStringOrNull(r.relation), ''),
                 CASE WHEN startNode(r) = current THEN 'out' ELSE 'in' END,
                 tags, weight, similarity
               ]) AS edge
          WHERE neighbour.scope = $p.scope AND neighbour:Memory AND neighbour.id IS :: STRING NOT NULL
            AND NOT coalesce(neighbour.superseded_at <= $p.held.at OR neighbour.valid_until <= $p.held.at, false)
            AND ($p.held.plain OR NOT coalesce(
              neighbour.created_at > $p.held.made_by OR neighbour.`when` IN $p.held.outside, false))
            AND NOT (neighbour:Session|Speaker|Topic AND COUNT { (neighbour)-[:RELATES]-() } = 1)
          WITH neighbour.id AS id, edge, neighbour.id IN state.visited[f[0]] AS seen
          ORDER BY seen, edge[0], id
          LIMIT toInteger($p.cap)
          RETURN count(*) > 0 AS any_above,
                 collect(CASE WHEN NOT seen THEN [id] + edge END) AS children
        }
        RETURN collect([f[0], f[1], degree, any_above, children]) AS level
      }
      // Each neighbour is selected once, for its strongest parent that has a place left.
      CALL (level, number) {
        UNWIND CASE WHEN number < $p.levels THEN level ELSE [] END AS row
        UNWIND row[4] AS child
        WITH row[0] AS exploration, row[1] AS parent, child[0] AS id, child[1] AS negative
        ORDER BY negative, parent, id
        WITH exploration, collect([parent, id, negative]) AS candidates
        WHERE size(candidates) <= $p.most
        UNWIND reduce(
          chosen = {rows: [], ids: [], parents: []}, one IN candidates |
          CASE
            WHEN one[1] IN chosen.ids
                 OR size([parent IN chosen.parents WHERE parent = one[0]]) >= $p.max_branches
              THEN chosen
            ELSE {
              rows: chosen.rows + [[exploration, one[1], -one[2]]],
              ids: chosen.ids + [one[1]],
              parents: chosen.parents + [one[0]]
            }
          END
        ).rows AS row
        RETURN collect(row) AS next
      }
      RETURN {
        frontier: next,
        visited: [i IN range(0, size(state.visited) - 1) |
                  state.visited[i] + [row IN next WHERE row[0] = i | row[1]]],
        levels: state.levels + [[state.frontier, level]]
      }
    }[0]
  END
) AS state
CALL (state) {
  UNWIND state.levels AS one
  UNWIND one[0] AS f
  WITH DISTINCT f[1] AS id
  MATCH (m:Memory {scope: $p.scope, id: id})
  RETURN collect([
    id, labels(m), coalesce(m.text, m.connector_name), m.tags, m.topics, m.entities, m.category,
    m.priority, m.`when`,
    CASE
      WHEN m.created_at IS :: ZONED DATETIME OR m.created_at IS :: LOCAL DATETIME
        THEN toString(m.created_at)
    END,
    m.metadata,
    CASE
      WHEN m.valid_until IS :: ZONED DATETIME OR m.valid_until IS :: LOCAL DATETIME
        THEN toString(m.valid_until)
    END
  ]) AS memories
}
RETURN state.levels AS levels, memories
