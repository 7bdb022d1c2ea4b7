"""Traces made by hand: of paths, each a list of (id, energy), the seed first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from memoria.types import (
    Direction,
    Exploration,
    ExplorationStats,
    Hop,
    MemoryNode,
    Path,
    Seed,
    Seeds,
    Trace,
)

Steps = Sequence[tuple[str, float]]


def hop(
    source: str,
    target: str,
    energies: tuple[float, float],
    *,
    direction: Direction = "out",
    relation: str = "near",
    weight: float = 0.5,
) -> Hop:
    return Hop(
        source=source,
        target=target,
        relation=relation,
        direction=direction,
        weight=weight,
        tags=(),
        tag_similarity=1.0,
        degree=1,
        energy_in=energies[0],
        energy_out=energies[1],
    )


def path(steps: Steps, *, direction: Direction = "out") -> Path:
    hops = tuple(
        hop(one[0], other[0], (one[1], other[1]), direction=direction)
        for one, other in pairwise(steps)
    )
    return Path(
        seed_id=steps[0][0], hops=hops, memories=(), end_reason="dead_end", energy=steps[-1][1]
    )


def path_of(
    memories: Sequence[MemoryNode],
    energies: Sequence[float],
    edge: Callable[[MemoryNode, MemoryNode], tuple[str, Direction]],
    *,
    weight: float = 0.5,
) -> Path:
    """A path with its memories; ``edge`` gives relation and direction of what joins two of them."""
    hops = []
    for (one, held), (other, left) in pairwise(zip(memories, energies, strict=True)):
        relation, direction = edge(one, other)
        ends = one.id, other.id, (held, left)
        hops.append(hop(*ends, direction=direction, relation=relation, weight=weight))
    return Path(
        seed_id=memories[0].id,
        hops=tuple(hops),
        memories=tuple(memories),
        end_reason="dead_end",
        energy=energies[-1],
    )


def trace(scope: str, *paths: Path | Steps, hits: Sequence[str] = (), **fields: Any) -> Trace:
    """Trace of a recall with these paths; relation ``near``, as stored from left to right."""
    found: dict[str, list[Path]] = defaultdict(list)
    for given in paths:
        one = given if isinstance(given, Path) else path(given)
        found[one.seed_id].append(one)
    seeds = {id_: Seed(id=id_, score=own[0].start) for id_, own in found.items()}
    explorations = tuple(
        Exploration(
            seed=seeds[id_],
            status="complete",
            paths=tuple(own),
            error=None,
            stats=ExplorationStats(levels=1, nodes=1, elapsed_s=0.0, hydrate_s=0.0),
        )
        for id_, own in found.items()
    )
    return Trace(
        query="q",
        query_tags=(),
        scope=scope,
        started_at=datetime(2026, 3, 9, tzinfo=UTC),
        timings_s={},
        degraded=(),
        seeds=Seeds(
            seeds=tuple(seeds.values()), runners_up=tuple(Seed(id=id_, score=0.1) for id_ in hits)
        ),
        explorations=explorations,
        **fields,
    )
