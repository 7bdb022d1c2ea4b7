"""The worked figures of source 001: tags, the termination table, the tree of N2006."""

from __future__ import annotations

import math

from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import TransferEnergy
from tests.cases.build import Case, chain, edge, graph, leaves, path

# Source 001, section 3: "1 shared of 6".
EDGE_TAGS = ["inventory_policy", "recommendation", "analysis_dependency"]
QUERY_TAGS = ["demand_forecasting", "stockout", "safety_stock", "inventory_policy"]

TAGS = [
    Case(
        name="one_shared_tag_of_six_passes_0.292",
        # 0.15 + 0.85 * 1/6 = 0.29167; back from a: 0.29167 * 0.29167 = 0.085, s is visited.
        graph=graph(edge("s", "a", tags=EDGE_TAGS)),
        query_tags=QUERY_TAGS,
        paths=[path("s>a", "dead_end", 0.15 + 0.85 / 6, tag_similarity=0.15 + 0.85 / 6)],
    ),
    Case(
        name="no_shared_tag_passes_the_floor",
        graph=graph(edge("s", "a", tags=["recommendation", "analysis_dependency"])),
        query_tags=QUERY_TAGS,
        paths=[path("s>a", "dead_end", 0.15, tag_similarity=0.15)],
    ),
    Case(
        name="missing_and_empty_tags_pass_the_floor",  # 1 / sqrt(2) * 0.15 = 0.10607 each
        graph=graph(edge("s", "a"), edge("s", "b", tags=[])),
        query_tags=["x"],
        paths=[
            path("s>a", "dead_end", 0.15 / math.sqrt(2), tags=(), tag_similarity=0.15),
            path("s>b", "dead_end", 0.15 / math.sqrt(2), tags=(), tag_similarity=0.15),
        ],
    ),
    Case(
        name="query_without_tags_filters_nothing",
        graph=graph(edge("s", "a", tags=EDGE_TAGS)),
        paths=[path("s>a", "dead_end", 1.0, tags=tuple(EDGE_TAGS), tag_similarity=1.0)],
    ),
    Case(
        name="duplicate_tags_of_an_edge_count_in_the_union",
        # inter 1 (x), union 3 + 2 - 1 = 4: 0.15 + 0.85 / 4 = 0.3625.
        graph=graph(edge("s", "a", tags=["x", "x", "y"])),
        query_tags=["x", "z"],
        paths=[path("s>a", "dead_end", 0.3625, tags=("x", "x", "y"), tag_similarity=0.3625)],
    ),
    Case(
        name="duplicate_tags_of_a_query_count_once",
        graph=graph(edge("s", "a", tags=["x"])),
        query_tags=["x", "x"],
        paths=[path("s>a", "dead_end", 1.0)],
    ),
    Case(
        name="floor_given_as_whole_number_zero_divides_as_floats",
        # 0 + (1 - 0) * 1 / 2 = 0.5, where whole numbers would give 0; b shares nothing: 0.
        graph=graph(edge("s", "a", tags=["x"]), edge("s", "b", tags=["z"])),
        query_tags=["x", "y"],
        config=RetrieverConfig(strategy=TransferEnergy(tag_sim_floor=0, min_activation=0)),
        paths=[path("s>a", "dead_end", 0.5 / math.sqrt(2))],
    ),
    Case(
        name="similarity_rounded_above_one_counts_as_computed",
        # 0.2 + (0.8 * 3) / 3 = 1.0000000000000002 in doubles, and half of that exceeds 0.5: a
        # bound on energy that takes tag_sim <= 1 for granted would stop at s.
        graph=graph(edge("s", "a", tags=["x", "y", "z"])),
        score=0.5,
        query_tags=["x", "y", "z"],
        config=RetrieverConfig(
            strategy=TransferEnergy(tag_sim_floor=0.2, min_activation=0.5, max_depth=1)
        ),
        paths=[path("s>a", "max_depth", 0.5, tag_similarity=math.nextafter(1.0, 2.0))],
    ),
]

# Source 001, section 7, row by row.
TERMINATION = [
    Case(
        name="max_depth_ends_a_branch_after_five_hops",
        # s has 1 edge, n1 to n5 two each: 1, then four times / sqrt(2): 0.25.
        graph=graph(*chain("s", "n1", "n2", "n3", "n4", "n5", "n6", "n7")),
        paths=[path("s>n1>n2>n3>n4>n5", "max_depth", 0.25)],
    ),
    Case(
        name="max_depth_of_one_branch_leaves_others_to_end_earlier",
        # s has 2 edges: n1 0.70711, a 0.70711 * 0.02 = 0.01414; n2 0.5, n3 0.35355.
        # Back from a: 0.01414 * 0.02 is below the threshold.
        graph=graph(*chain("s", "n1", "n2", "n3", "n4"), edge("s", "a", 0.02)),
        config=RetrieverConfig(strategy=TransferEnergy(max_depth=3)),
        paths=[
            path("s>n1>n2>n3", "max_depth", 1 / math.sqrt(8)),
            path("s>a", "below_threshold", 0.02 / math.sqrt(2)),
        ],
    ),
    Case(
        name="max_depth_is_the_reason_even_where_nothing_follows",
        graph=graph(edge("s", "a")),
        config=RetrieverConfig(strategy=TransferEnergy(max_depth=1)),
        paths=[path("s>a", "max_depth", 1.0)],
    ),
    Case(
        name="below_threshold_ends_a_branch",
        # a receives 0.008 and has 4 edges: 0.008 / 2 = 0.004 for each, the way back included.
        graph=graph(edge("s", "a"), *leaves("a", 3)),
        score=0.008,
        paths=[path("s>a", "below_threshold", 0.008)],
    ),
    Case(
        name="energy_equal_to_the_threshold_is_not_above_it",
        graph=graph(edge("s", "a", 0.5)),
        config=RetrieverConfig(strategy=TransferEnergy(min_activation=0.5)),
        paths=[path("s", "below_threshold", 1.0)],
    ),
    Case(
        name="dead_end_where_all_neighbours_are_visited",
        # A triangle: a and b receive 1 / sqrt(2); all that they could go on to is visited.
        graph=graph(edge("s", "a"), edge("a", "b"), edge("b", "s")),
        paths=[
            path("s>a", "dead_end", 1 / math.sqrt(2)),
            path("s>b", "dead_end", 1 / math.sqrt(2)),
        ],
    ),
    Case(
        name="dead_end_where_a_stronger_parent_claims_the_only_neighbour",
        # Back to s is below the threshold: p 0.02 / sqrt(2) = 0.01414 * 0.02 / sqrt(2).
        # p>x 0.01414 / sqrt(2) = 0.01; q>x 0.018 / sqrt(2) = 0.01273 / sqrt(2) = 0.009: claimed.
        # Back from x: 0.01 / sqrt(2) = 0.00707, both of its neighbours are visited.
        graph=graph(edge("s", "p", 0.02), edge("s", "q", 0.018), edge("p", "x"), edge("q", "x")),
        paths=[
            path("s>q", "dead_end", 0.018 / math.sqrt(2)),
            path("s>p>x", "dead_end", 0.01),
        ],
    ),
    Case(
        name="empty_frontier_finishes_before_max_depth",
        graph=graph(edge("s", "a")),
        config=RetrieverConfig(strategy=TransferEnergy(max_depth=20)),
        paths=[path("s>a", "dead_end", 1.0)],
    ),
    Case(
        name="seed_not_found_gives_no_path",
        graph=graph(edge("a", "b")),
        status="seed_not_found",
        paths=[],
    ),
    Case(
        name="seed_of_another_scope_is_not_found",
        graph=graph(edge("a", "b"), edge("there/s", "there/a")),
        status="seed_not_found",
        paths=[],
    ),
    Case(
        name="isolated_seed_is_a_path_without_hops",
        graph=graph(alone=["s"]),
        score=0.7,
        paths=[path("s", "below_threshold", 0.7)],
    ),
]

# Source 001, section 5: the tree of N2006. Topical edges share the one tag of the query (tag_sim
# 1), the others have none (0.15); 0.8 / sqrt(4) = 0.4 leaves the seed over an edge of weight 1.
#   N2003 0.4     N2004 0.4 * 0.5 = 0.2      N2005 0.4 * 0.5 * 0.15 = 0.03
#   N2009 0.4 * 0.25 * 0.15 = 0.015: the fourth, beyond max_branches
#   N2001 0.4 * 0.5 / sqrt(2) = 0.14142      N2008 0.2 / sqrt(2) * 0.15 = 0.02121
#   N2010 0.14142 / sqrt(2) * 0.15 = 0.015
# Nothing passes on from the ends, not even back: N2010 0.015 * 0.15, N2008 0.02121 * 0.15,
# N2005 0.03 * 0.5 * 0.15 are all below 0.005.
N2006 = Case(
    name="tree_of_n2006",
    graph=graph(
        edge("N2006", "N2003", tags=["stockout"]),
        edge("N2006", "N2004", 0.5, tags=["stockout"]),
        edge("N2005", "N2006", 0.5),
        edge("N2009", "N2006", 0.25),
        edge("N2001", "N2003", 0.5, tags=["stockout"]),
        edge("N2001", "N2010"),
        edge("N2008", "N2004"),
    ),
    seed_id="N2006",
    score=0.8,
    query_tags=["stockout"],
    paths=[
        path("N2006>N2005", "below_threshold", 0.03),
        path("N2006>N2004>N2008", "below_threshold", 0.03 / math.sqrt(2)),
        path("N2006>N2003>N2001>N2010", "below_threshold", 0.015),
    ],
)
