"""Rank what explorations reached by energy (source: 001's order; no query in hand).

In: explorations. Out: each memory once, best first.
"""

from __future__ import annotations

from collections.abc import Iterable

from memoria.types import Exploration, RankedMemory


def rank_by_energy(explorations: Iterable[Exploration]) -> tuple[RankedMemory, ...]:
    """Order memories by the highest energy with which any path reached them; ties by id.

    A seed counts with its score. Memories whose texts could not be read are left out.
    """
    best: dict[str, RankedMemory] = {}
    for exploration in explorations:
        for path in exploration.paths:
            energies = (path.start, *(hop.energy_out for hop in path.hops))
            for memory, energy in zip(path.memories, energies, strict=False):
                known = best.get(memory.id)
                if known is None or energy > known.score:
                    best[memory.id] = RankedMemory(memory=memory, score=energy, path=path)
    return tuple(sorted(best.values(), key=lambda entry: (-entry.score, entry.memory.id)))
