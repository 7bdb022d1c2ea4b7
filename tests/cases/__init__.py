"""Small graphs with their paths worked out by hand: the oracle and the engine both face them."""

from tests.cases.build import HERE, Case, Expected, chain, edge, full_tree, graph, leaves, path
from tests.cases.selection import PARALLEL, SELECTION, SHAPES
from tests.cases.source import EDGE_TAGS, N2006, QUERY_TAGS, TAGS, TERMINATION
from tests.cases.weights import WEIGHTS

CASES = [*TAGS, *TERMINATION, N2006, *WEIGHTS, *SHAPES, *SELECTION, *PARALLEL]

__all__ = [
    "CASES",
    "EDGE_TAGS",
    "HERE",
    "N2006",
    "QUERY_TAGS",
    "Case",
    "Expected",
    "chain",
    "edge",
    "full_tree",
    "graph",
    "leaves",
    "path",
]
