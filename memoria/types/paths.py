"""What a recall finds: seeds, the paths that energy takes from them, and how each one ended.

Energies, scores and similarities have no unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memoria._support import checks
from memoria.errors import MemoriaError
from memoria.types.activation import Activation, Direction
from memoria.types.memory import MemoryNode

EndReason = Literal["max_depth", "below_threshold", "dead_end", "truncated", "not_explored"]
Status = Literal["complete", "seed_not_found", "truncated", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """A memory that an exploration starts from.

    Attributes
    ----------
    id
        Id of the memory.
    score
        Hybrid similarity R, in (0, 1]: the energy it starts with.
    vector_rank, text_rank
        Place in the vector and in the full-text list, from 1; None where it is not in the list.
    vector_score
        Cosine similarity with the query, -1 to 1.
    text_score
        BM25 score, above 0, open scale.
    """

    id: str
    score: float
    vector_rank: int | None = None
    vector_score: float | None = None
    text_rank: int | None = None
    text_score: float | None = None

    def __post_init__(self) -> None:
        """Check what an exploration relies on."""
        checks.check_id(self.id)
        object.__setattr__(self, "score", checks.check_score(self.score))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """Result of the hybrid search, best first.

    Attributes
    ----------
    seeds
        What explorations start from; at most ``max_seeds``.
    runners_up
        The other hits, on the same score scale.
    degraded
        Why a part of the search gave nothing, one sentence each; empty when all went well.
    """

    seeds: tuple[Seed, ...]
    runners_up: tuple[Seed, ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One step of a path, with its ledger.

    Under transfer energy ``energy_out == ((energy_in * weight) / sqrt(degree)) * tag_similarity``,
    to the last bit (source: 001, section 4). Under a strategy that adds up what many edges bring,
    the edge is that of the strongest chain, and `Exploration.activations` holds all of them.

    Attributes
    ----------
    source, target
        Ids of the memory the energy left and of the one it reached.
    relation
        What the edge says; "" where it says nothing.
    direction
        ``out`` when the stored edge points from source to target, else ``in``.
    weight
        Weight that counted: stored, capped at ``max_weight``, 0.01 where none is stored.
    tags
        Tags of the edge.
    tag_similarity
        Floored Jaccard of edge tags and query tags, 0 to 1.
    degree
        RELATES edges of the source, both directions, a self loop once.
    energy_in, energy_out
        Energy of the source, and of the target after this hop.
    """

    source: str
    target: str
    relation: str
    direction: Direction
    weight: float
    tags: tuple[str, ...]
    tag_similarity: float
    degree: int
    energy_in: float
    energy_out: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A branch of an exploration from its seed to its end.

    Attributes
    ----------
    seed_id
        Id of the seed.
    hops
        Steps from the seed; empty for a seed that passes on nothing.
    memories
        The memories along it, seed first: ``len(hops) + 1`` of them. Empty when they could not
        be read: a deadline left no time, or the database went away.
    end_reason
        Why it ends here; ``not_explored`` for a hit of the search that is no seed.
    energy
        Energy of its last memory; the seed's score for a path without hops.
    """

    seed_id: str
    hops: tuple[Hop, ...]
    memories: tuple[MemoryNode, ...]
    end_reason: EndReason
    energy: float

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids along the path, seed first."""
        return (self.seed_id, *(hop.target for hop in self.hops))

    @property
    def start(self) -> float:
        """Energy of the seed."""
        return self.hops[0].energy_in if self.hops else self.energy


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorationStats:
    """What one exploration cost.

    Attributes
    ----------
    levels
        Levels expanded.
    nodes
        Memories reached, the seed included.
    elapsed_s
        Wall time from its start to its last text; seconds.
    hydrate_s
        The part of it spent waiting for texts that did not come with the levels; seconds. While
        streaming beside the levels.
    """

    levels: int
    nodes: int
    elapsed_s: float
    hydrate_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """All paths from one seed.

    Attributes
    ----------
    seed
        Where it started.
    status
        ``complete``; ``seed_not_found`` (no paths); ``truncated`` by the deadline; or ``failed``.
    paths
        Its paths by energy (highest first), then ids. Of a failed or truncated exploration,
        those found so far.
    error
        Why it failed, else None.
    stats
        What it cost.
    activations
        How each memory that is first reached from this seed came by its energy, highest first;
        empty under transfer energy, whose hops say it.
    """

    seed: Seed
    status: Status
    paths: tuple[Path, ...]
    error: MemoriaError | None
    stats: ExplorationStats
    activations: tuple[Activation, ...] = ()

    @property
    def frontiers(self) -> tuple[tuple[tuple[str, float], ...], ...]:
        """Memories and their energies by hops from the seed, which comes first; sorted by id."""
        levels: list[dict[str, float]] = []
        for path in self.paths:
            energies = [path.start, *(hop.energy_out for hop in path.hops)]
            for level, (id_, energy) in enumerate(zip(path.ids, energies, strict=True)):
                if level == len(levels):
                    levels.append({})
                levels[level][id_] = energy
        return tuple(tuple(sorted(level.items())) for level in levels)


def path_order(path: Path) -> tuple[float, tuple[str, ...]]:
    """Sort key of paths: energy, highest first, then ids."""
    return (-path.energy, path.ids)
