"""Which edges carry energy, which neighbours get it, and how ties break."""

from __future__ import annotations

import math

from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import TransferEnergy
from tests.cases.build import Case, edge, graph, leaves, path

SHAPES = [
    Case(
        name="edges_carry_energy_against_their_direction",
        graph=graph(edge("a", "s", relation="causes")),
        paths=[path("s>a", "dead_end", 1.0, direction="in", relation="causes")],
    ),
    Case(
        name="cross_scope_edge_counts_in_the_degree_and_leads_nowhere",
        graph=graph(edge("s", "a"), edge("s", "there/b"), edge("there/b", "there/c")),
        paths=[path("s>a", "dead_end", 1 / math.sqrt(2), degree=2)],
    ),
    Case(
        name="neighbours_of_another_scope_are_no_neighbours",  # Hence not a dead end.
        graph=graph(edge("s", "there/a"), edge("there/s", "s")),
        paths=[path("s", "below_threshold", 1.0)],
    ),
    Case(
        name="self_loop_counts_once_in_the_degree",
        graph=graph(edge("s", "a"), edge("s", "s")),
        paths=[path("s>a", "dead_end", 1 / math.sqrt(2), degree=2)],
    ),
    Case(
        name="self_loop_alone_is_a_dead_end",
        graph=graph(edge("s", "s")),
        paths=[path("s", "dead_end", 1.0)],
    ),
    Case(
        name="hub_below_the_bound_is_not_expanded",
        # h has 3,001 edges: 0.25 / sqrt(3001) = 0.00456.
        graph=graph(edge("s", "h"), *leaves("h", 3_000)),
        score=0.25,
        paths=[path("s>h", "below_threshold", 0.25)],
    ),
    Case(
        name="hub_above_the_bound_passes_on_to_the_first_ids",
        # 0.3 / sqrt(3001) = 0.00548 for each of 3,000; back from a leaf the same.
        graph=graph(edge("s", "h"), *leaves("h", 3_000)),
        score=0.3,
        paths=[
            path(f"s>h>h-leaf000{number}", "dead_end", 0.3 / math.sqrt(3_001), degree=3_001)
            for number in range(3)
        ],
    ),
]

_TWO = math.sqrt(2)
SELECTION = [
    Case(
        name="parent_that_loses_a_neighbour_goes_on_to_its_next",
        # max_branches 2. p 0.9 and q 0.72 / sqrt(2); q has 4 edges, its ranking is x, y, z.
        # p>x 0.9 / 2 = 0.45 beats q>x 0.72 / sqrt(2) / 2 = 0.25456, so q takes y and z:
        # y 0.25456 * 0.8 = 0.20365, z 0.25456 * 0.6 = 0.15274.
        graph=graph(
            *(edge("s", "p", 0.9), edge("s", "q", 0.72), edge("p", "x"), edge("q", "x")),
            *(edge("q", "y", 0.8), edge("q", "z", 0.6)),
        ),
        config=RetrieverConfig(strategy=TransferEnergy(max_branches=2)),
        paths=[
            path("s>p>x", "dead_end", 0.45),
            path("s>q>y", "dead_end", 0.72 / _TWO / 2 * 0.8),
            path("s>q>z", "dead_end", 0.72 / _TWO / 2 * 0.6),
        ],
    ),
    Case(
        name="neighbour_beyond_the_branches_of_one_parent_goes_to_another",
        # max_branches 2, both at s: p 0.70711, q 0.63640. p has 4 edges: x1 and x2 0.35355 each,
        # p>y 0.31820. That beats q>y (0.63640 * 0.7 / sqrt(2) = 0.315), but p has its two.
        graph=graph(
            *(edge("s", "p", 1.0), edge("s", "q", 0.9)),
            *(edge("p", "x1"), edge("p", "x2"), edge("p", "y", 0.9), edge("q", "y", 0.7)),
        ),
        config=RetrieverConfig(strategy=TransferEnergy(max_branches=2, max_depth=2)),
        paths=[
            path("s>p>x1", "max_depth", 1 / _TWO / 2),
            path("s>p>x2", "max_depth", 1 / _TWO / 2),
            path("s>q>y", "max_depth", 0.9 * 0.7 / 2),
        ],
    ),
    Case(
        name="equal_neighbours_are_taken_by_code_point_of_their_id",
        # U+FF5E comes before U+1F600, whose UTF-16 form starts with the smaller D83D.
        graph=graph(*(edge("s", name) for name in ("\U0001f600", "\uff5e", "b", "B", "a10", "a9"))),
        config=RetrieverConfig(strategy=TransferEnergy(max_branches=5, max_depth=1)),
        paths=[
            path(f"s>{name}", "max_depth", 1 / math.sqrt(6))
            for name in ("B", "a10", "a9", "b", "\uff5e")
        ],
    ),
    Case(
        name="equal_parents_are_served_by_id",
        # p and q offer x the same 0.5: p comes first; q is left with s.
        graph=graph(edge("s", "q"), edge("s", "p"), edge("q", "x"), edge("p", "x")),
        paths=[path("s>q", "dead_end", 1 / _TWO), path("s>p>x", "dead_end", 0.5)],
    ),
    Case(
        name="fewer_branches_than_neighbours_keeps_the_strongest",
        graph=graph(*(edge("s", f"n{weight}", weight / 10) for weight in (6, 9, 7, 8))),
        config=RetrieverConfig(strategy=TransferEnergy(max_depth=1)),  # Four edges: weight / 2.
        paths=[
            path("s>n9", "max_depth", 0.45),
            path("s>n8", "max_depth", 0.4),
            path("s>n7", "max_depth", 0.35),
        ],
    ),
    Case(
        name="twice_as_many_claimed_as_branches_leaves_the_next_two",
        # max_branches 2. p 1 and q 0.8 / sqrt(2); p has 3 edges, x1 and x2 1 / sqrt(6) = 0.40825.
        # q has 5 edges, its ranking is x1, x2 (0.25298, both claimed by p), y1 (* 0.9), y2 (* 0.8):
        # its third and fourth of 2 * 2 are the last that can ever be taken.
        graph=graph(
            *(edge("s", "p"), edge("s", "q", 0.8)),
            *(edge(parent, x) for parent in "pq" for x in ("x1", "x2")),
            *(edge("q", "y1", 0.9), edge("q", "y2", 0.8)),
        ),
        config=RetrieverConfig(strategy=TransferEnergy(max_branches=2, max_depth=2)),
        paths=[
            path("s>p>x1", "max_depth", 1 / math.sqrt(6)),
            path("s>p>x2", "max_depth", 1 / math.sqrt(6)),
            path("s>q>y1", "max_depth", 0.8 * 0.9 / math.sqrt(10)),
            path("s>q>y2", "max_depth", 0.8 * 0.8 / math.sqrt(10)),
        ],
    ),
    Case(
        name="stronger_edges_that_lead_nowhere_take_no_branch",
        # max_branches 1. Five into another scope, two bad, two parallel: 10 edges at s, a 1 /
        # sqrt(10). At a (3 edges) both ways back are stronger than the one to b.
        graph=graph(
            *(edge("s", f"there/x{number}") for number in range(5)),
            *(edge("s", "y", math.inf), edge("s", "z", math.nan)),
            *(edge("s", "a", relation="r"), edge("a", "s", 0.9, relation="r")),
            *(edge("a", "b", 0.5), edge("s", "c", 0.8)),
        ),
        config=RetrieverConfig(strategy=TransferEnergy(max_branches=1, max_depth=2)),
        paths=[path("s>a>b", "max_depth", 0.5 / math.sqrt(30))],
    ),
]

PARALLEL = [
    Case(
        name="parallel_edges_the_strongest_counts",  # The lighter edge wins by its tag: 0.3 > 0.15.
        graph=graph(edge("s", "a", relation="a"), edge("s", "a", 0.3, relation="b", tags=["x"])),
        query_tags=["x"],
        config=RetrieverConfig(strategy=TransferEnergy(max_depth=1)),
        paths=[path("s>a", "max_depth", 0.3 / _TWO, relation="b", weight=0.3, degree=2)],
    ),
    Case(
        name="parallel_edges_take_one_branch_together",
        # 7 edges at s: a 1 / sqrt(7) by five of them, b 0.5 / sqrt(7), c 0.4 / sqrt(7).
        graph=graph(
            *(edge("s", "a", relation=f"r{number}") for number in range(5)),
            *(edge("s", "b", 0.5), edge("s", "c", 0.4)),
        ),
        config=RetrieverConfig(strategy=TransferEnergy(max_depth=1)),
        paths=[
            path("s>a", "max_depth", 1 / math.sqrt(7), relation="r0"),
            path("s>b", "max_depth", 0.5 / math.sqrt(7)),
            path("s>c", "max_depth", 0.4 / math.sqrt(7)),
        ],
    ),
    Case(
        name="parallel_edges_tie_by_relation_first",
        graph=graph(
            *(edge("a", "s", relation="b", tags=["a"]), edge("s", "a", relation="a", tags=["z"])),
        ),
        config=RetrieverConfig(strategy=TransferEnergy(max_depth=1)),
        paths=[path("s>a", "max_depth", 1 / _TWO, relation="a", direction="out", tags=("z",))],
    ),
    Case(
        name="parallel_edges_tie_by_direction_second",
        graph=graph(
            *(edge("s", "a", relation="r", tags=["a"]), edge("a", "s", relation="r", tags=["z"])),
        ),
        config=RetrieverConfig(strategy=TransferEnergy(max_depth=1)),
        paths=[path("s>a", "max_depth", 1 / _TWO, relation="r", direction="in", tags=("z",))],
    ),
    Case(
        name="parallel_edges_tie_by_tags_third",
        graph=graph(
            *(edge("s", "a", relation="r", tags=tags) for tags in (["b"], ["a", "b"], ["a", "a"])),
        ),
        config=RetrieverConfig(strategy=TransferEnergy(max_depth=1)),
        paths=[path("s>a", "max_depth", 1 / math.sqrt(3), relation="r", tags=("a", "a"))],
    ),
    Case(
        name="missing_relation_is_empty_and_comes_first",
        graph=graph(edge("s", "a", relation="a"), edge("s", "a")),
        config=RetrieverConfig(strategy=TransferEnergy(max_depth=1)),
        paths=[path("s>a", "max_depth", 1 / _TWO, relation="")],
    ),
    Case(
        name="relations_are_ordered_by_code_point",
        graph=graph(edge("s", "a", relation="\U0001f600"), edge("s", "a", relation="\uff5e")),
        config=RetrieverConfig(strategy=TransferEnergy(max_depth=1)),
        paths=[path("s>a", "max_depth", 1 / _TWO, relation="\uff5e")],
    ),
]
