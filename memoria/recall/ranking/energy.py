"""Rank memories by the energy that reached them; the query plays no part (source: 001).

In: explorations. Out: each memory once, best first. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from memoria.graph.connectors import is_connector
from memoria.types import Exploration, RankedMemory


def rank_by_energy(explorations: Iterable[Exploration]) -> tuple[RankedMemory, ...]:
    """Order memories by the highest energy with which any path reached them; ties by id.

    A seed counts with its score. Connectors are left out, and so are memories whose texts could not
    be read.
    """
    best: dict[str, RankedMemory] = {}
    for exploration in explorations:
        for path in exploration.paths:
            energies = (path.start, *(hop.energy_out for hop in path.hops))
            for memory, energy in zip(path.memories, energies, strict=False):
                known = best.get(memory.id)
                if is_connector(memory):
                    continue
                if known is None or energy > known.score:
                    best[memory.id] = RankedMemory(memory=memory, score=energy, path=path)
    return tuple(sorted(best.values(), key=lambda entry: (-entry.score, entry.memory.id)))
