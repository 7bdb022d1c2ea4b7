"""One exploration by transfer energy, level by level, and the rows that its queries return.

In: the rows of each level in turn. Out: the paths that ended. Touches nothing.
Queries: ``strategies.level``, ``strategies.levels``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from memoria.types import Direction, EndReason, Hop, Path, Seed


class Branch(NamedTuple):  # a cheap type: hundreds are made while the server waits
    """The way from the seed to a memory of the current frontier."""

    id: str
    energy: float
    hops: tuple[Hop, ...]


class TransferExploration:
    """The state of one exploration between two levels.

    Attributes
    ----------
    seed
        The seed from which the exploration started.
    found
        Whether the seed exists; None before the first level.
    levels
        Number of levels expanded so far.
    frontier
        The branches that go on; empty when the exploration is over.
    visited
        Ids reached so far, in the order in which they were reached; each value is True.
    """

    def __init__(
        self, seed: Seed, *, max_depth: int, max_branches: int, seed_branches: int | None = None
    ) -> None:
        self.seed = seed
        self.found: bool | None = None
        self.levels = 0
        self.frontier = [Branch(id=seed.id, energy=seed.score, hops=())]
        self.visited = {seed.id: True}
        self._max_depth = max_depth
        self._max_branches = max_branches
        self._seed_branches = max_branches if seed_branches is None else seed_branches

    @property
    def branches(self) -> int:
        """The most neighbours to which a memory of the frontier passes energy."""
        return self._max_branches if self.levels else self._seed_branches

    def absorb(self, rows: Mapping[str, LevelRow]) -> list[Path]:
        """Take the rows of one level; return the paths that ended with it.

        Parameters
        ----------
        rows
            Id -> row, for every memory of the frontier that the database found.
        """
        if self.found is None:
            self.found = self.seed.id in rows
            if not self.found:
                self.frontier = []
                return []
        chosen = self._select(rows)
        self.levels += 1
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
        """Whether the frontier has exactly these memories and energies, in whatever order."""
        return {(branch.id, branch.energy) for branch in self.frontier} == {*frontier}

    def can_choose(self, rows: Mapping[str, LevelRow], cap: int) -> bool:
        """Whether the choice is certain although rows may hold only ``cap`` children per parent.

        The missing children are the weakest: a parent that already has all its branches never
        takes them.
        """
        capped = [id_ for id_, row in rows.items() if len(row.children) >= cap]
        if not capped:
            return True
        chosen = self._select(rows)
        return all(len(chosen[id_]) == self.branches for id_ in capped)

    def cut(self) -> list[Path]:
        """End every branch where it stands, as a deadline does."""
        ended = [self._end(branch, "truncated") for branch in self.frontier]
        self.frontier = []
        return ended

    def _select(self, rows: Mapping[str, LevelRow]) -> dict[str, list[Child]]:
        """Choose the strongest candidates of the level, each neighbour once (source: 001, 2b).

        Candidates are taken in the order (transfer energy, parent id, neighbour id). A parent that
        loses a neighbour to a stronger parent takes its next neighbour.
        """
        candidates = sorted(
            (child[1], parent, child[0], child)  # only the chosen few become a `Child`
            for parent, row in rows.items()
            for child in row.children
        )
        chosen: dict[str, list[Child]] = {}
        claimed: set[str] = set()
        for _, parent, id_, child in candidates:
            siblings = chosen.setdefault(parent, [])
            if id_ not in claimed and len(siblings) < self.branches:
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
    """A neighbour that a memory of the frontier passes energy to over its best edge.

    The fields have the order of the query's columns.
    """

    id: str
    negative_energy: float
    relation: str
    direction: Direction
    tags: Sequence[Any]
    weight: float
    tag_similarity: float


class LevelRow(NamedTuple):
    """What the level query says of one memory of the frontier."""

    degree: int
    any_above: bool
    children: Sequence[Sequence[Any]]  # with the columns of `Child`


def level_rows(level: Sequence[Sequence[Any]], count: int) -> list[dict[str, LevelRow]]:
    """Sort the rows of one level by exploration: ``count`` maps of id -> row."""
    rows: list[dict[str, LevelRow]] = [{} for _ in range(count)]
    for index, node_id, degree, any_above, children in level:
        rows[index][node_id] = LevelRow(degree, any_above, children)
    return rows


def _reason(row: LevelRow | None) -> EndReason:
    """Return why a memory passes nothing on; a memory deleted meanwhile is a dead end."""
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
