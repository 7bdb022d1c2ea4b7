"""One exploration by transfer energy, level by level, and what its queries return.

In: the rows of one level after the other. Out: the paths that ended. Touches nothing.
Queries: ``strategies.level``, ``strategies.levels``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from memoria.types import Direction, EndReason, Hop, Path, Seed


class Branch(NamedTuple):  # like the rows: hundreds are made while the server waits
    """The way from the seed to a memory of the current frontier."""

    id: str
    energy: float
    hops: tuple[Hop, ...]


class TransferExploration:
    """The state of one exploration between two levels.

    Attributes
    ----------
    seed
        Where it started.
    found
        Whether the seed exists; None before the first level.
    levels
        Levels expanded so far.
    frontier
        Branches that go on; empty when the exploration is over.
    visited
        Ids reached so far, in the order in which they were reached, each with True.
    """

    def __init__(self, seed: Seed, *, max_depth: int, max_branches: int) -> None:
        self.seed = seed
        self.found: bool | None = None
        self.levels = 0
        self.frontier = [Branch(id=seed.id, energy=seed.score, hops=())]
        self.visited = {seed.id: True}
        self._max_depth = max_depth
        self._max_branches = max_branches

    def absorb(self, rows: Mapping[str, LevelRow]) -> list[Path]:
        """Take the rows of one level; return the paths that ended with it.

        Parameters
        ----------
        rows
            Id -> row, for every frontier memory that the database found.
        """
        if self.found is None:
            self.found = self.seed.id in rows
            if not self.found:
                self.frontier = []
                return []
        self.levels += 1
        chosen = self._select(rows)
        ended = [
            self._end(branch, _reason(rows.get(branch.id)))
            for branch in self.frontier
            if not chosen.get(branch.id)
        ]
        self.frontier = [
            _extend(branch, rows[branch.id], child)
            for branch in self.frontier
            for child in chosen.get(branch.id, ())
        ]
        self.visited |= dict.fromkeys((branch.id for branch in self.frontier), True)
        if self.levels == self._max_depth:
            ended += [self._end(branch, "max_depth") for branch in self.frontier]
            self.frontier = []
        return ended

    def stands_on(self, frontier: Collection[tuple[str, float]]) -> bool:
        """Whether these are the memories and energies of its frontier, in whatever order."""
        return {(branch.id, branch.energy) for branch in self.frontier} == {*frontier}

    def can_choose(self, rows: Mapping[str, LevelRow], cap: int) -> bool:
        """Whether children beyond ``cap`` of a parent, which rows may lack, change nothing.

        They come last in its order: a parent that has all its branches before never takes them.
        """
        capped = [id_ for id_, row in rows.items() if len(row.children) >= cap]
        if not capped:
            return True
        chosen = self._select(rows)
        return all(len(chosen[id_]) == self._max_branches for id_ in capped)

    def cut(self) -> list[Path]:
        """End every branch where it stands, as a deadline does."""
        ended = [self._end(branch, "truncated") for branch in self.frontier]
        self.frontier = []
        return ended

    def _select(self, rows: Mapping[str, LevelRow]) -> dict[str, list[Child]]:
        """Take the strongest candidates of the level, each neighbour once (source: 001, 2b).

        Greedy by (transfer energy, parent id, neighbour id): a parent that loses a neighbour to
        a stronger one goes on to its next.
        """
        candidates = sorted(
            (child[1], parent, child[0], child)  # of most, nothing else is ever needed
            for parent, row in rows.items()
            for child in row.children
        )
        chosen: dict[str, list[Child]] = {}
        claimed: set[str] = set()
        for _, parent, id_, child in candidates:
            siblings = chosen.setdefault(parent, [])
            if id_ not in claimed and len(siblings) < self._max_branches:
                claimed.add(id_)
                siblings.append(Child(*child))
        return chosen

    def _end(self, branch: Branch, reason: EndReason) -> Path:
        return Path(
            seed_id=self.seed.id,
            hops=branch.hops,
            memories=(),
            end_reason=reason,
            energy=branch.energy,
        )


class Child(NamedTuple):
    """A neighbour that a frontier memory passes energy to, by its best edge.

    In the order of the query's columns.
    """

    id: str
    negative_energy: float
    relation: str
    direction: Direction
    tags: Sequence[Any]
    weight: float
    tag_similarity: float


class LevelRow(NamedTuple):
    """What the level query says of one frontier memory."""

    degree: int
    any_above: bool
    children: Sequence[Sequence[Any]]  # columns as those of `Child`


def level_rows(level: Sequence[Sequence[Any]], count: int) -> list[dict[str, LevelRow]]:
    """Sort the rows of one level by exploration: ``count`` maps of id -> row."""
    rows: list[dict[str, LevelRow]] = [{} for _ in range(count)]
    for index, node_id, degree, any_above, children in level:
        rows[index][node_id] = LevelRow(degree, any_above, children)
    return rows


def _reason(row: LevelRow | None) -> EndReason:
    """Why a frontier memory passes nothing on; one deleted meanwhile is a dead end."""
    return "dead_end" if row is None or row.any_above else "below_threshold"


def _extend(branch: Branch, row: LevelRow, child: Child) -> Branch:
    energy = -child.negative_energy
    hop = Hop(
        source=branch.id,
        target=child.id,
        relation=child.relation,
        direction=child.direction,
        weight=child.weight,
        tags=tuple(map(str, child.tags)),
        tag_similarity=child.tag_similarity,
        degree=row.degree,
        energy_in=branch.energy,
        energy_out=energy,
    )
    return Branch(id=child.id, energy=energy, hops=(*branch.hops, hop))
