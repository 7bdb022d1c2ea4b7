"""Collect from paths the material of a context: memories, and edges that say more than a text.

In: paths. Out: `Candidate`s, the best first, and `Reasons`. Touches nothing.

Connectors are left out. They only join memories, and the texts already show that two memories
mention the same thing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memoria.errors import InvalidInputError
from memoria.graph.connectors import is_connector
from memoria.graph.vocabulary import says_more
from memoria.types import Direction, Edge, Hop, MemoryNode, OmitReason, Path

# Energies are far below the scores of hits, because each hop divides by the root of the degree. So
# energies are scaled to this maximum. Measured with 0, 0.25, 0.5, 0.75 and unscaled energies: 0.5
# kept the most evidence in conversations, and for multi-hop questions it was within one point of
# the best.
REACHED_WORTH = 0.5


@dataclass(slots=True, eq=False)
class Candidate:
    """A memory on the paths; ``path`` is the one that brought the most energy.

    ``id`` is that of the memory; with a prefix where memories of several scopes are packed.
    """

    id: str
    memory: MemoryNode
    path: Path
    energy: float  # brought by this path
    most: float  # highest energy of any path, or score in the search
    worth: float
    text: str
    speaker: str
    day: str  # "" if the memory has no date
    out: OmitReason | None = None  # why it stays out regardless of the budget
    duplicate_of: str | None = None
    newer: str | None = None  # id of the statement that surely replaces it

    @property
    def scope(self) -> str:
        """Scope of the memory; "" where only that of the retriever is read."""
        return self.path.scope


class Reason(NamedTuple):
    """An edge between two memories, seen from one of them."""

    relation: str
    direction: Direction


#: Id of a memory -> id of another memory -> the edge that joins them.
Reasons = Mapping[str, Mapping[str, Reason]]


def gather(paths: Iterable[Path], worth: Mapping[str, float] | None = None) -> list[Candidate]:
    """Return the memories on ``paths`` (in `path_order`), those with the most worth first.

    Raises
    ------
    InvalidInputError
        Two scopes have a memory with the same id.

    Notes
    -----
    Without ``worth``, the worth of a memory is its score as a hit of the search, plus the most
    energy that reached it over hops, scaled so that the strongest memory gets `REACHED_WORTH`. The
    two are added because a memory found by both search and exploration is likelier to answer.
    """
    found: dict[str, float] = defaultdict(float)
    reached: dict[str, float] = defaultdict(float)
    best: dict[str, tuple[bool, float, Path]] = {}
    given = list(paths)
    _check_scopes(given)
    memories = _memories_of(given)
    for path in given:
        came, has_hops = found, False
        energies = (path.start, *[hop.energy_out for hop in path.hops])
        for id_, energy in zip(path.ids, energies, strict=True):
            if energy > came[id_]:
                came[id_] = energy
            known = best.get(id_)
            # Prefer a path with hops: it explains more than a plain hit of the search.
            if known is None or (has_hops, energy) > known[:2]:
                best[id_] = (has_hops, energy, path)
            came, has_hops = reached, True
    strongest = max(reached.values(), default=0.0) or 1.0
    candidates = []
    for id_, (_, energy, path) in best.items():
        memory = memories.get(id_) or MemoryNode(id=id_, kind="", text="")
        if is_connector(memory):
            continue
        own = found[id_] + REACHED_WORTH * reached[id_] / strongest
        candidates.append(
            Candidate(
                id=id_,
                memory=memory,
                path=path,
                energy=energy,
                most=max(found[id_], reached[id_]),
                worth=own if worth is None else worth.get(id_, 0.0),
                text=memory.text.strip(),
                speaker=memory.speaker,
                day=memory.created_at.date().isoformat() if memory.created_at else "",
            )
        )
    return sorted(candidates, key=lambda one: (-one.worth, -one.most, one.id))


def reasons_of(paths: Iterable[Path], edges: Iterable[Edge]) -> Reasons:
    """Return the edges whose relation says more than the texts of both memories.

    They are those on the paths, of several between two memories the heaviest; and, for pairs
    without such an edge on a path, those of ``edges``.
    """
    hops: dict[tuple[str, str], Hop] = {}
    for path in paths:
        for hop in path.hops:
            if says_more(hop.relation):
                ends = hop.source, hop.target
                known = hops.get(ends, hop)
                if (hop.weight, hop.relation) >= (known.weight, known.relation):
                    hops[ends] = hop
    found: dict[str, dict[str, Reason]] = defaultdict(dict)
    for (source, target), hop in sorted(hops.items(), key=lambda pair: (pair[1].weight, pair[0])):
        back: Direction = "in" if hop.direction == "out" else "out"
        found[source][target] = Reason(hop.relation, hop.direction)
        found[target][source] = Reason(hop.relation, back)
    for edge in edges:
        if says_more(edge.relation):
            found[edge.source].setdefault(edge.target, Reason(edge.relation, "out"))
            found[edge.target].setdefault(edge.source, Reason(edge.relation, "in"))
    return found


def _check_scopes(paths: Sequence[Path]) -> None:
    if len({path.scope for path in paths}) <= 1:
        return
    scopes: dict[str, str] = {}
    for path in paths:
        for id_ in path.ids:
            if scopes.setdefault(id_, path.scope) != path.scope:
                raise InvalidInputError(
                    f"two scopes have a memory {id_!r:.80}: make one context for each scope, or "
                    "recall both in one call, whose context has both",
                    field="path",
                )


def _memories_of(paths: Iterable[Path]) -> dict[str, MemoryNode]:
    """Return id -> memory, preferring a copy that has its text."""
    memories: dict[str, MemoryNode] = {}
    for path in paths:
        for memory in path.memories:
            known = memories.get(memory.id)
            if known is not memory and (known is None or not known.text.strip()):
                memories[memory.id] = memory
    return memories
