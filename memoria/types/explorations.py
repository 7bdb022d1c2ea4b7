"""All paths of energy from one seed, as they are returned, drawn and shown.

Energies, scores and similarities have no unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memoria._support.wording import number_of, shown
from memoria.errors import MemoriaError
from memoria.types.activation import Activation
from memoria.types.drawing import MAX_DRAWN, graph_of, picture_of
from memoria.types.paths import Path, Seed

Status = Literal["complete", "seed_not_found", "truncated", "failed"]


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
        return; seconds. A stream reads these texts while the levels continue.
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
            The heading above the tree.
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
