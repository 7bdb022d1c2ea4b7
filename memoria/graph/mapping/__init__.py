"""Read a graph that another program made, as it is: mappings, and the queries made from them.

In: a `GraphMapping`. Out: translated queries, findings, proposals. Reads only.
"""

from memoria.graph.mapping.model import GraphMapping
from memoria.graph.mapping.parts import ELEMENT_ID, WHOLE_GRAPH, EdgeMapping, NodeMapping, WeightOf
from memoria.graph.mapping.rendering import Translation

__all__ = [
    "ELEMENT_ID",
    "WHOLE_GRAPH",
    "EdgeMapping",
    "GraphMapping",
    "NodeMapping",
    "Translation",
    "WeightOf",
]
