"""Weights as any writer may have left them."""

from __future__ import annotations

import math

from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import TransferEnergy
from tests.cases.build import Case, edge, graph, path

BAD_WEIGHTS = [math.nan, math.inf, -math.inf, -0.5, "0.9", True, False, [0.9]]

WEIGHTS = [
    Case(
        name="bad_weights_drop_their_edge_but_count_in_the_degree",
        # 8 bad edges and a good one: 1 / sqrt(9).
        graph=graph(
            edge("s", "a"), *(edge("s", f"b{i}", bad) for i, bad in enumerate(BAD_WEIGHTS))
        ),
        paths=[path("s>a", "dead_end", 1 / 3, degree=9)],
    ),
    Case(
        name="missing_weight_is_0.01",  # Back from a: 0.0001.
        graph=graph(edge("s", "a", None)),
        paths=[path("s>a", "below_threshold", 0.01, weight=0.01)],
    ),
    Case(
        name="missing_weight_is_0.01_even_above_max_weight",
        graph=graph(edge("s", "a", None), edge("s", "b", 0.01)),
        config=RetrieverConfig(strategy=TransferEnergy(min_activation=0.002), max_weight=0.001),
        paths=[path("s>a", "below_threshold", 0.01 / math.sqrt(2), weight=0.01)],
    ),
    Case(
        name="weight_above_max_counts_as_max",
        graph=graph(edge("s", "a", 1.7)),
        paths=[path("s>a", "dead_end", 1.0, weight=1.0)],
    ),
    Case(
        name="weight_within_a_larger_max_counts_in_full",
        graph=graph(edge("s", "a", 1.7)),
        config=RetrieverConfig(max_weight=2.0),
        paths=[path("s>a", "dead_end", 1.7, weight=1.7)],
    ),
    Case(
        name="whole_number_weight_counts",  # 1 / sqrt(2) = 0.70711; weight 3 as 1.
        graph=graph(edge("s", "a", 1), edge("s", "b", 3)),
        config=RetrieverConfig(max_weight=1),
        paths=[
            path("s>a", "dead_end", 1 / math.sqrt(2), weight=1.0),
            path("s>b", "dead_end", 1 / math.sqrt(2), weight=1.0),
        ],
    ),
    Case(
        name="weight_zero_passes_nothing_even_without_a_threshold",
        graph=graph(edge("s", "a", 0), edge("s", "b", 0.0), edge("s", "c", -0.0)),
        config=RetrieverConfig(strategy=TransferEnergy(min_activation=0)),
        paths=[path("s", "below_threshold", 1.0)],
    ),
]
