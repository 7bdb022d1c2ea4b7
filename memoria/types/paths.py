"""What a recall finds: seeds, the paths of energy from them, and why each path ended.

Energies, scores and similarities have no unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memoria._support import checks
from memoria._support.wording import number_of, shown
from memoria.errors import MemoriaError
from memoria.types.activation import Activation, Direction
from memoria.types.drawing import MAX_DRAWN, graph_of, picture_of
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
        Hybrid similarity R, in (0, 1]: the energy with which the exploration starts.
    vector_rank, text_rank
        Rank in the list of the vector search and of the full-text search, from 1; None if the
        memory is not in that list.
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
    """

    seeds: tuple[Seed, ...]
    runners_up: tuple[Seed, ...] = ()
    degraded: tuple[str, ...] = ()
    echoes: tuple[Seed, ...] = ()
    loose: tuple[str, ...] = ()


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
        Steps from the seed; empty for a seed that passes on no energy.
    memories
        The memories on the path, seed first: ``len(hops) + 1`` of them. Empty if they could not be
        read, because the deadline came or the database went away.
    end_reason
        Why the path ends here; ``not_explored`` for a hit of the search that is not a seed.
    energy
        Energy of the last memory; for a path without hops, the score of the seed.
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
        Levels that were expanded.
    nodes
        Memories that were reached, including the seed.
    elapsed_s
        Wall time from the start to the last text; seconds.
    hydrate_s
        The part of ``elapsed_s`` spent waiting for texts that the queries of the levels did not
        return; seconds. A stream reads these texts while the levels go on.
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
        The seed from which it started.
    status
        ``complete``; ``seed_not_found`` (no paths); ``truncated`` by the deadline; or ``failed``.
    paths
        The paths by energy (highest first), then by ids. A failed or truncated exploration has the
        paths found so far.
    error
        Why the exploration failed, else None.
    stats
        What the exploration cost.
    activations
        How each memory that was first reached from this seed came by its energy, highest energy
        first; empty under transfer energy, where the hops say so.
    """

    seed: Seed
    status: Status
    paths: tuple[Path, ...]
    error: MemoriaError | None
    stats: ExplorationStats
    activations: tuple[Activation, ...] = ()

    def to_svg(
        self, *, question: str = "", query_tags: Sequence[str] = (), max_memories: int = MAX_DRAWN
    ) -> str:
        """Draw the paths as a tree, with the energy of every memory and hop.

        Parameters
        ----------
        question, query_tags
            What stands above the tree.
        max_memories
            Paths are drawn by energy, as long as they hold no more memories than these.

        Returns
        -------
        str
            An SVG document that loads nothing; the same for the same paths.
        """
        heading = question or f"From {self.seed.id}"
        return picture_of([self], question=heading, tags=query_tags, most=max_memories)

    def to_graph(self) -> dict[str, list[dict[str, Any]]]:
        """Return the memories and edges of the paths; see `Recall.to_graph`."""
        return graph_of([self], packed=(), ranks={})

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.to_svg()}</div>'

    def __repr__(self) -> str:
        paths = number_of(len(self.paths), "path")
        reached = number_of(self.stats.nodes, "memory", "memories")
        return f"<Exploration from {shown(self.seed.id)}: {self.status}, {paths}, {reached}>"

    @property
    def frontiers(self) -> tuple[tuple[tuple[str, float], ...], ...]:
        """Memories and their energies, level by level from the seed; each level sorted by id."""
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
