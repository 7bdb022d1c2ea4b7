"""Compare a mapping with the whole of a graph: keys, scopes, texts, weights, ends.

In: a store of memoria's own, a mapping. Out: `Problem`s. Reads only, in one pass over the graph.
Queries: ``mapping.*``.
"""

from __future__ import annotations

from memoria.graph.mapping.checking import (
    Problem,
    edge_fault_problems,
    fault_problems,
    problems_of,
)
from memoria.graph.mapping.database import ask, inventory_for
from memoria.graph.mapping.model import GraphMapping
from memoria.graph.mapping.parts import ELEMENT_ID, WeightOf
from memoria.graph.mapping.sampled import (
    edge_sample_problems,
    sample_problems,
    unknown_properties,
)
from memoria.store import Store
from memoria.store.queries import load

_SAMPLE = 100
_MAX_CHARS = 80


async def examine_mapping(store: Store, mapping: GraphMapping, *, limit: int) -> list[Problem]:
    """Return everything in which a mapping and a graph do not fit.

    Parameters
    ----------
    limit
        Most nodes of each label, and relationships of each type, to examine; >= 1.
    """
    inventory = await inventory_for(store, mapping)
    found = problems_of(mapping, inventory)
    patient = store.patient()
    known = (await patient.run(load("mapping.property_names"), {}))[0]["names"]
    found += unknown_properties(mapping, known)
    for number, node in enumerate(mapping.nodes):
        for label in node.labels:
            if not inventory.labels.get(label):
                continue
            limits = {"limit": _SAMPLE, "max_chars": _MAX_CHARS}
            rows = (await ask(patient, "mapping.sample_nodes", limits, label=label))["rows"]
            sampled = [*sample_problems(mapping, number, label, rows)]
            found += sampled
            if any(problem.stops for problem in sampled):
                continue
            asked = {
                "key": None if node.key == ELEMENT_ID else node.key,
                "limit": limit,
                "scope": node.scope,
                "text": list(node.text),
            }
            faults = await ask(patient, "mapping.node_faults", asked, label=label)
            found += fault_problems(mapping, number, label, faults)
    for number, edge in enumerate(mapping.edges):
        if not inventory.types.get(edge.type):
            continue
        rows = (await ask(patient, "mapping.sample_edges", {"limit": _SAMPLE}, type_=edge.type))[
            "rows"
        ]
        found += edge_sample_problems(mapping, number, rows)
        weight = edge.weight.property if isinstance(edge.weight, WeightOf) else None
        asked = {"labels": list(mapping.labels), "limit": limit, "weight": weight}
        faults = await ask(patient, "mapping.edge_faults", asked, type_=edge.type)
        found += edge_fault_problems(mapping, number, faults)
    return found
