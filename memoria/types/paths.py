"""What a recall finds on its way: seeds, hops, paths, and why each path ended.

Energies, scores and similarities have no unit.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import Literal

from memoria._support import checks
from memoria.types.activation import Direction
from memoria.types.memory import MemoryNode

EndReason = Literal["max_depth", "below_threshold", "dead_end", "truncated", "not_explored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """A memory that an exploration starts from.

    Attributes
    ----------
    id
        Id of the memory.
    score
        Hybrid similarity R, in (0, 1]: the energy with which the exploration starts.
    vector_rank, text_rank
        Rank in the list of the vector search and of the full-text search, from 1; None if the
        memory is not in that list.
    vector_score
        Cosine similarity with the query, -1 to 1.
    text_score
        BM25 score, above 0, open scale.
    scope
        Scope of the memory; "" where only that of the retriever is read.
    """

    id: str
    score: float
    vector_rank: int | None = None
    vector_score: float | None = None
    text_rank: int | None = None
    text_score: float | None = None
    scope: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Check what an exploration relies on."""
        checks.check_id(self.id)
        object.__setattr__(self, "score", checks.check_score(self.score))
        for name, rank in (("vector_rank", self.vector_rank), ("text_rank", self.text_rank)):
            if rank is not None:
                checks.check_whole(rank, name, low=1, high=sys.maxsize)
        for name, score in (("vector_score", self.vector_score), ("text_score", self.text_score)):
            if score is not None:
                checks.check_number(score, name, low=-math.inf, high=math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """Result of the hybrid search, best first.

    Attributes
    ----------
    seeds
        The seeds that explorations start from; at most ``max_seeds``, and one earlier question
        that is near the query, as what answered it may answer the query.
    runners_up
        The other hits, on the same score scale.
    degraded
        For each part of the search that failed, a sentence that says why; empty if none did.
    echoes
        Earlier questions that say no more than the query, best first: they are neither ranked nor
        packed, as a prompt has the question already.
    loose
        Ids of earlier questions that no edge joins to anything but what answered them, or what is
        similar to them, and of messages of conversations that ask much the same as the query; the
        ranking moves them down, see `HistoryConfig`.
    pending
        How many memories of the scope have no vector yet, where the search has counted them.
    """

    seeds: tuple[Seed, ...]
    runners_up: tuple[Seed, ...] = ()
    degraded: tuple[str, ...] = ()
    echoes: tuple[Seed, ...] = ()
    loose: tuple[str, ...] = ()
    pending: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One step of a path, with the numbers from which its energy was calculated.

    Under transfer energy ``energy_out == ((energy_in * weight) / sqrt(degree)) * tag_similarity``,
    to the last bit (source: 001, section 4). Under a strategy that adds up the energy of many
    edges, a hop shows the edge of the strongest chain, and `Exploration.activations` has them all.

    Attributes
    ----------
    source, target
        Ids of the memory that the energy left, and of the memory that it reached.
    relation
        Relation of the edge; "" for an edge without one.
    direction
        ``out`` when the stored edge points from source to target, else ``in``.
    weight
        Weight that was used: the stored weight, at most ``max_weight``, and 0.01 where no weight is
        stored.
    tags
        Tags of the edge.
    tag_similarity
        Floored Jaccard of edge tags and query tags, 0 to 1.
    degree
        Number of RELATES edges at the source, in both directions; a self loop counts once.
    energy_in, energy_out
        Energy of the source, and of the target after this hop; both 0 in a chain of needs.
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
class Edge:
    """An edge between two memories, whether or not a path took it.

    Attributes
    ----------
    source, target
        Ids of the two memories, in the direction in which the edge is stored.
    relation
        Relation of the edge, such as ``caused_by``.
    scope
        Scope of both memories; "" where only that of the retriever is read.
    """

    source: str
    target: str
    relation: str
    scope: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A branch of an exploration from its seed to its end.

    Attributes
    ----------
    seed_id
        Id of the seed.
    hops
        Steps from the seed; empty for a seed that passes on no energy.
    memories
        The memories on the path, seed first: ``len(hops) + 1`` of them. Empty if they could not be
        read, because the deadline came or the database went away.
    end_reason
        Why the path ends here; ``not_explored`` for a path that no exploration made: a hit of the
        search that is not a seed, or a chain of needs.
    energy
        Energy of the last memory; for a path without hops, the score of the seed.
    scope
        Scope of all its memories; "" where only that of the retriever is read.
    ids
        Ids along the path, seed first.
    """

    seed_id: str
    hops: tuple[Hop, ...]
    memories: tuple[MemoryNode, ...]
    end_reason: EndReason
    energy: float
    scope: str = field(default="", repr=False)
    ids: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Keep the ids: a recall asks each of its paths for them ten times, to sort and compare."""
        object.__setattr__(self, "ids", (self.seed_id, *[hop.target for hop in self.hops]))

    @property
    def place(self) -> tuple[str, ...]:
        """The scope, then the ids: no other path of a recall has the same."""
        return (self.scope, *self.ids)

    @property
    def start(self) -> float:
        """Energy of the seed."""
        return self.hops[0].energy_in if self.hops else self.energy


def path_order(path: Path) -> tuple[float, tuple[str, ...]]:
    """Sort key of paths: energy, highest first, then ids."""
    return (-path.energy, path.ids)
