"""What a strategy is: how energy moves, one query at a time.

In: a `RunInput`, then the answer to one query after the other. Out: the paths that ended.
Touches nothing: who runs a strategy sends its queries. Your own: ``docs/strategies.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from memoria.recall.seeds.config import SeedConfig
from memoria.types import Activation, Path, Seed
from memoria.types.validity import Validity

if TYPE_CHECKING:
    from memoria.store.queries import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInput:
    """What a run starts from.

    Attributes
    ----------
    seeds
        Where to start; distinct ids, at least one.
    scope
        Scope that nothing leaves; each query must keep to it.
    query_tags
        Distinct tags of the query.
    max_weight
        Larger weights of edges count as this; > 0.
    vector
        Embedding of the query, or None: an exploration from given seeds has none.
    now
        The present, for strategies in which the age of a memory counts; aware.
    validity
        Which memories hold; the others take no part. Each query must keep to it, by its parameter
        ``held``. Without one given, memories must hold at present.
    generation
        That of the stored vectors to compare ``vector`` with; see `ServerFacts`. Who runs the
        strategy turns its queries to them.
    """

    seeds: tuple[Seed, ...]
    scope: str
    query_tags: tuple[str, ...]
    max_weight: float = 1.0
    vector: tuple[float, ...] | None = None
    now: datetime = field(default_factory=partial(datetime.now, UTC))
    validity: Validity = field(default_factory=Validity.now)
    generation: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One round trip: a query of mode ``read`` that returns one record, and its parameters.

    Attributes
    ----------
    query
        Name of one of memoria's queries, such as ``strategies.edges``, or a query of your own. If
        its record has a column ``memories``, rows as those of ``graph.hydrate``, the texts of these
        memories are not read again.
    parameters
        Exactly those that the query declares.
    """

    query: str | Query
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How far a run has come from one of its seeds.

    Attributes
    ----------
    found
        Whether the seed exists; None before the first step.
    over
        Whether the run has ended for this seed.
    steps
        Number of steps so far.
    nodes
        Number of memories reached so far, including the seed.
    activations
        Where the energy of each memory came from, in strategies whose hops don't show it; complete
        when ``over`` is true.
    """

    found: bool | None
    over: bool
    steps: int
    nodes: int
    activations: tuple[Activation, ...] = ()


class StrategyRun(Protocol):
    """One run, from one seed or from several: its state between two steps.

    A path is returned once, by `absorb` or `cut`, with ``memories`` empty: its texts are read
    later. What a run returns depends on the `RunInput` and the answers alone.
    """

    def ask(self) -> Step | None:
        """Return the next query to send; None when the run is over."""

    def absorb(self, record: Mapping[str, Any]) -> list[Path]:
        """Take the answer to the last step; return the paths that ended with it."""

    def cut(self) -> list[Path]:
        """End every open path where it stands, as at a deadline; return these paths."""

    def parts(self) -> dict[str, StrategyRun]:
        """Divide the run after a step that failed: one run for each seed, by the id of the seed.

        Empty if the parts would only send the same query again: if one seed is left, or if the
        energy of all seeds adds up.
        """

    def outcome(self, seed_id: str) -> Outcome:
        """Return how far the run has come from this seed."""


@runtime_checkable
class Strategy(Protocol):
    """How energy moves, and all settings of that. It has no state: runs may share a strategy."""

    @property
    def name(self) -> str:
        """The name in traces, in reports and on the command line."""

    @property
    def together(self) -> bool:
        """Whether the energy of different seeds adds up.

        If it does, all seeds of a call belong to one run in one session. If not, the seeds may be
        divided among several sessions, and each session has a run of its own.
        """

    @property
    def seeds(self) -> SeedConfig | None:
        """How to search for seeds if the caller does not say; None for the default settings."""

    def start(self, run_input: RunInput) -> StrategyRun:
        """Begin a run."""
