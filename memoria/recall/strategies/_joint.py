"""A run in which the energy of all seeds adds up: what such strategies have in common.

In: what arrives over edges, step by step. Out: the activations, and for each activated memory the
strongest chain of edges that leads to it. Touches nothing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memoria.recall.strategies._edges import Edge
from memoria.recall.strategies.base import Outcome, RunInput, Step, StrategyRun
from memoria.types import Activation, Contribution, EndReason, Hop, Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Route:
    """A chain of edges from a seed, and the energy that came over this chain alone."""

    seed_id: str
    edges: tuple[Edge, ...]
    energy: float

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.seed_id, *(edge.target for edge in self.edges))

    @property
    def order(self) -> tuple[Any, ...]:
        return (-self.energy, len(self.edges), self.ids)


class JointRun(ABC):
    """State of one run from all seeds. A strategy defines `ask` and `absorb`, and calls the rest.

    Parameters
    ----------
    run_input
        The seeds, and all else that the run starts from.
    charges
        Id of each seed -> the energy it starts with, >= 0.
    mark
        Value of `Activation.source` for each memory that the run reaches.

    Attributes
    ----------
    charges
        Id of each seed -> the energy it starts with.
    activation
        Id -> energy gathered so far, for the seeds that exist and each memory that received energy.
    connectors
        Ids of the connectors that the run has met: they carry energy, and are not results.
    """

    def __init__(self, run_input: RunInput, charges: Mapping[str, float], *, mark: str) -> None:
        self.input = run_input
        self.charges = dict(charges)
        self.activation = dict(charges)
        self.steps = 0
        self.over = False
        self.connectors: set[str] = set()
        self._mark = mark
        self._found: frozenset[str] | None = None
        self._received: dict[str, list[Contribution]] = {}
        self._routes = {
            seed: _Route(seed_id=seed, edges=(), energy=charge) for seed, charge in charges.items()
        }
        self._passed: set[str] = set()
        self._activations: dict[str, list[Activation]] = {}

    @abstractmethod
    def ask(self) -> Step | None:
        """Return the next query to send; None when the run is over."""

    @abstractmethod
    def absorb(self, record: Mapping[str, Any]) -> list[Path]:
        """Take the answer to the last query; after the last step, return all paths."""

    def cut(self) -> list[Path]:
        """End the run with what was gathered so far."""
        return [] if self.over else self.end(self.results(), "truncated")

    def parts(self) -> dict[str, StrategyRun]:
        """Return no parts: the run is never divided, because the energy of its seeds adds up."""
        return {}

    def outcome(self, seed_id: str) -> Outcome:
        """Return how far the run has come; every seed is as far as the others."""
        activations = tuple(self._activations.get(seed_id, ()))
        return Outcome(
            found=None if self._found is None else seed_id in self._found,
            over=self.over,
            steps=self.steps,
            nodes=len(activations),
            activations=activations,
        )

    def gathered(self) -> list[Activation]:
        """Return what every memory has gathered so far, highest energy first, then by id.

        Connectors are left out.
        """
        return self._of_memories(self._entries(JointRun.results(self)))

    def results(self) -> Mapping[str, Mapping[str, float]]:
        """Return the results so far: id -> the shares that add up to the energy of the memory.

        Unless overridden, these are the energy that a seed started with, and the energy received.
        """
        return {
            node: {
                "start": self.charges.get(node, 0.0),
                "received": math.fsum(each.energy_out for each in self._received.get(node, ())),
            }
            for node in self.activation
        }

    def begin(self, found: Iterable[str], connectors: Iterable[str] = ()) -> None:
        """Note which seeds exist (the others take no part in the run), and which connectors."""
        self.connectors.update(connectors)
        if self._found is None:
            self._found = frozenset(found)
            for missing in self.charges.keys() - self._found:
                del self.activation[missing], self._routes[missing]

    def receive(self, arrived: Iterable[tuple[Edge, float, float]]) -> dict[str, float]:
        """Take everything that arrives in one step.

        Parameters
        ----------
        arrived
            For each edge: the edge, the energy of its source, and the energy that arrives.

        Returns
        -------
        dict
            Id -> the total energy that arrived there in this step.
        """
        self.steps += 1
        wave: dict[str, float] = {}
        routes: dict[str, _Route] = {}
        for edge, energy_in, energy_out in sorted(arrived, key=lambda item: item[0].order):
            for gathered in (wave, self.activation):
                gathered[edge.target] = gathered.get(edge.target, 0.0) + energy_out
            self._passed.add(edge.source)
            self._received.setdefault(edge.target, []).append(
                Contribution(
                    step=self.steps,
                    source=edge.source,
                    relation=edge.relation,
                    direction=edge.direction,
                    weight=edge.weight,
                    energy_in=energy_in,
                    energy_out=energy_out,
                )
            )
            known = routes.get(edge.target) or self._routes.get(edge.target)
            route = self._extended(edge, energy_in, energy_out)
            if route is not None and (known is None or route.order < known.order):
                routes[edge.target] = route
        self._routes |= routes
        return wave

    def end(
        self,
        results: Mapping[str, Mapping[str, float]],
        reason: EndReason | None = None,
        *,
        unspread: Iterable[str] = (),
    ) -> list[Path]:
        """End the run; return a path to each seed and result, unless a longer path contains it.

        Parameters
        ----------
        results
            As `results` returns them; a seed that is not a result counts with its first energy. For
            a connector they only say with which energy it stands on a path.
        reason
            Why all paths end; None if each path has a reason of its own.
        unspread
            Memories whose energy had no step left to go on; their paths end with ``max_depth``.
        """
        self.over = True
        seeds = self.charges.keys() if self._found is None else self._found
        starts = {seed: {"start": self.charges[seed]} for seed in sorted(seeds)}
        shares = {**starts, **results}
        entries = self._entries(shares)
        energies = {entry.id: entry.energy for entry in entries}
        for entry in self._of_memories(entries):
            self._activations.setdefault(self._routes[entry.id].seed_id, []).append(entry)
        ends = sorted((shares.keys() - self.connectors) | starts.keys())
        routes = [self._routes[node] for node in ends]
        inside = {route.ids[:length] for route in routes for length in range(1, len(route.ids))}
        last = frozenset(unspread)
        return [
            self._path(route, energies, reason or self._reason(route, last))
            for route in routes
            if route.ids not in inside
        ]

    def _of_memories(self, entries: Iterable[Activation]) -> list[Activation]:
        return [entry for entry in entries if entry.id not in self.connectors]

    def _entries(self, shares: Mapping[str, Mapping[str, float]]) -> list[Activation]:
        entries = [
            Activation(
                id=node,
                energy=math.fsum(shares[node].values()),
                source="seed" if node in self.charges else self._mark,
                shares=shares[node],
                contributions=tuple(self._received.get(node, ())),
            )
            for node in shares
        ]
        return sorted(entries, key=lambda entry: (-entry.energy, entry.id))

    def _extended(self, edge: Edge, energy_in: float, energy_out: float) -> _Route | None:
        """Return the route over this edge; None if it meets a seed or itself, or adds nothing."""
        before = self._routes[edge.source]
        if edge.target in self.charges or edge.target in before.ids:
            return None
        if energy_in <= 0 or energy_out <= 0:
            return None
        energy = before.energy * (energy_out / energy_in)
        return _Route(seed_id=before.seed_id, edges=(*before.edges, edge), energy=energy)

    def _reason(self, route: _Route, unspread: frozenset[str]) -> EndReason:
        node = route.ids[-1]
        if node in unspread:
            return "max_depth"
        return "dead_end" if node in self._passed else "below_threshold"

    def _path(self, route: _Route, energies: Mapping[str, float], reason: EndReason) -> Path:
        """Return the path along a route.

        The energy of a memory is the energy of its result; a memory that is not a result counts
        with the energy that it gathered.
        """

        def energy_of(node: str) -> float:
            return energies.get(node, self.activation[node])

        hops = tuple(
            Hop(
                source=edge.source,
                target=edge.target,
                relation=edge.relation,
                direction=edge.direction,
                weight=edge.weight,
                tags=edge.tags,
                tag_similarity=1.0,
                degree=edge.degree,
                energy_in=energy_of(edge.source),
                energy_out=energy_of(edge.target),
            )
            for edge in route.edges
        )
        return Path(
            seed_id=route.seed_id,
            hops=hops,
            memories=(),
            end_reason=reason,
            energy=energy_of(route.ids[-1]),
        )
