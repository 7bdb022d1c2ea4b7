// name: strategies.levels
// mode: read
// params: cap, frontier, held, levels, max_branches, max_weight, min_activation, most, query_tags, scope, tag_sim_floor
// returns: levels LIST<LIST>, memories LIST<LIST>
// needs: 2026
// All levels of explorations in one round trip. Each level repeats the core of strategies.level;
// between two levels, the query selects among the children. Python selects by itself as well, and
// accepts a level only if its own frontier is the one that was expanded here; otherwise it
// continues with strategies.level.
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
        WITH state, f[0] AS exploration, f[1] AS id, f[2] AS energy
        // use: find_memory(current, id)
        WHERE // use: is_valid(current)
        WITH state, exploration, id, energy, current,
             // use: degree(current) AS degree
        CALL (state, exploration, energy, current, degree) {
          // use: best_edges(current, energy, degree)
          WITH neighbour.id AS id, edge, neighbour.id IN state.visited[exploration] AS seen
          ORDER BY seen, edge[0], id
          LIMIT toInteger($p.cap)
          RETURN count(*) > 0 AS any_above,
                 collect(CASE WHEN NOT seen THEN [id] + edge END) AS children
        }
        RETURN collect([exploration, id, degree, any_above, children]) AS level
      }
      // Each neighbour is selected once, for its strongest parent that has a place left.
      CALL (level, number) {
        UNWIND CASE WHEN number < $p.levels THEN level ELSE [] END AS row
        WITH row[0] AS exploration, row[1] AS parent, row[4] AS children
        UNWIND children AS child
        WITH exploration, parent, child[0] AS id, child[1] AS negative
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
  // use: find_memory(m, id)
  RETURN collect(
    // use: memory_row(m)
  ) AS memories
}
RETURN state.levels AS levels, memories
