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

from memoria.seeds.config import SeedConfig
from memoria.types import Activation, Path, Seed

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
        The present, for strategies to which ages matter; aware.
    """

    seeds: tuple[Seed, ...]
    scope: str
    query_tags: tuple[str, ...]
    max_weight: float = 1.0
    vector: tuple[float, ...] | None = None
    now: datetime = field(default_factory=partial(datetime.now, UTC))


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
        Whether nothing more comes from it.
    steps
        Steps taken.
    nodes
        Memories reached, the seed included.
    activations
        How memories came by their energy, where hops don't say it; complete once it is over.
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
        """Say what to ask next; None when the run is over."""

    def absorb(self, record: Mapping[str, Any]) -> list[Path]:
        """Take the answer to the last step; return the paths that ended with it."""

    def cut(self) -> list[Path]:
        """End what goes on where it stands, as a deadline does; return those paths."""

    def parts(self) -> dict[str, StrategyRun]:
        """Divide after a step that failed, into runs that go on alone, by id of their seed.

        Empty where they would only ask the same again: where one seed is left, or energy meets.
        """

    def outcome(self, seed_id: str) -> Outcome:
        """Say how far it has come from this seed."""


@runtime_checkable
class Strategy(Protocol):
    """How energy moves, and all settings of that. Without state: many runs may be under way."""

    @property
    def name(self) -> str:
        """What traces, reports and the command line call it."""

    @property
    def together(self) -> bool:
        """Whether energy of different seeds meets.

        If so, all seeds of a call are one run in one session. If not, seeds may be divided among
        sessions, each with a run of its own.
        """

    @property
    def seeds(self) -> SeedConfig | None:
        """Settings of the search for its seeds, where a caller gives none; None: the default."""

    def start(self, run_input: RunInput) -> StrategyRun:
        """Begin a run."""
