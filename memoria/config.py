"""Settings, one frozen object per stage.

Change one for a call with ``dataclasses.replace(config, max_depth=3)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from memoria.ranges import (
    check_names,
    check_one_of,
    check_positive,
    check_seconds,
    check_whole,
    check_within,
)
from memoria.weights import RelevanceConfig

# The strategies that have a name; `memoria.strategies` holds them.
STRATEGY_NAMES = ("transfer", "lif", "anchor", "synapse")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreConfig:
    """Settings of the way to the database.

    Attributes
    ----------
    connect_timeout_s
        Time to open a connection; seconds, > 0.
    query_timeout_s
        Server-side limit of one query; seconds, > 0.
    max_retries
        Retries of a query that failed for a passing reason; 0 to 10.
    retry_base_s
        First wait between tries, doubled each time, with jitter; seconds, > 0.
    max_sessions
        Sessions in use at once; at most the size of the driver's pool.
    max_recalls
        Recalls of one retriever at work at once, 1 to 10,000; further ones wait, in the order in
        which their questions are embedded. More than the server and this process have processors
        for makes all of them late.
    """

    connect_timeout_s: float = 5.0
    query_timeout_s: float = 10.0
    max_retries: int = 3
    retry_base_s: float = 0.05
    max_sessions: int = 50
    max_recalls: int = 8

    def __post_init__(self) -> None:
        """Check every range."""
        for name in ("connect_timeout_s", "query_timeout_s", "retry_base_s"):
            check_seconds(name, getattr(self, name))
        check_whole("max_retries", self.max_retries, 0, 10)
        check_whole("max_sessions", self.max_sessions, 1, 10_000)
        check_whole("max_recalls", self.max_recalls, 1, 10_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedConfig:
    """Settings of the hybrid search.

    Attributes
    ----------
    max_seeds
        Explorations to start, at most; 1 to 100.
    candidates
        Hits taken from each of the two lists before they are fused; ``max_seeds`` to 1,000.
    fusion
        ``rrf`` (reciprocal ranks), ``linear`` (a weighted sum of scaled scores), or ``cosine``:
        vectors alone, seeds scored by their cosine above 0; words only where there is no vector.
    rrf_k
        Constant of ``rrf``; > 0. Larger: the first ranks count less.
    alpha
        Share of the cosine in ``linear``, 0 to 1; the rest is BM25.
    max_facts
        With ``cosine``: seeds of ``fact_kinds``, at most, beside ``max_seeds`` of other kinds; 0
        to 100. 0: all kinds share ``max_seeds``.
    fact_kinds
        Kinds with places of their own.
    unembedded
        Memories without an embedding that become seeds beside the others, the newest first; 0 to
        1,000. Finding them takes a pass over the scope.
    """

    max_seeds: int = 5
    candidates: int = 50
    fusion: Literal["rrf", "linear", "cosine"] = "rrf"
    rrf_k: float = 60.0
    alpha: float = 0.5
    max_facts: int = 0
    fact_kinds: tuple[str, ...] = ("UserPreference", "DataSource")
    unembedded: int = 0

    def __post_init__(self) -> None:
        """Check every range."""
        check_whole("max_seeds", self.max_seeds, 1, 100)
        check_whole("candidates", self.candidates, self.max_seeds, 1_000)
        check_one_of("fusion", self.fusion, ("rrf", "linear", "cosine"))
        check_positive("rrf_k", self.rrf_k)
        check_within("alpha", self.alpha, 0.0, 1.0)
        check_whole("max_facts", self.max_facts, 0, 100)
        check_names("fact_kinds", self.fact_kinds)
        check_whole("unembedded", self.unembedded, 0, 1_000)


class AnyStrategy(Protocol):
    """What these settings know of a `memoria.strategies.Strategy`, checked where it is used."""

    @property
    def name(self) -> str:
        """What reports call it."""

    @property
    def start(self) -> Any:
        """Begin a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreConfig:
    """Settings of the exploration (source: 001, section 2).

    Depth, activation, tags, branches and round trips are those of transfer energy; another strategy
    holds its own settings.

    Attributes
    ----------
    strategy
        How energy moves: ``transfer``, ``lif``, ``anchor``, ``synapse``, or an object such as
        ``LeakyIntegrateAndFire(fire_threshold=0.4)``.
    max_depth
        Hops from a seed, at most; 1 to 20.
    min_activation
        Energy a memory must exceed to be reached; >= 0.
    tag_sim_floor
        Tag similarity of an edge that shares no tag with the query; 0 to 1.
    max_branches
        Neighbours taken per memory and level, at most; 1 to 100.
    max_weight
        Larger weights count as this; > 0.
    seeds_per_session
        Explorations that share a session and its level queries; None: 1 when streaming
        explorations, all in ``recall``.
    transactions
        ``auto``: auto-commit reads with memoria's own retry, one round trip a query.
        ``managed``: the driver's ``execute_read`` with its retry policy, three round trips.
    round_trips
        ``level``: a query a level. ``single``: one for all levels, for a database far away; the
        same result, but a deadline that ends it leaves nothing but the seeds. Neo4j 5 can't, and is
        asked level by level.
    """

    strategy: str | AnyStrategy = "transfer"
    max_depth: int = 5
    min_activation: float = 0.005
    tag_sim_floor: float = 0.15
    max_branches: int = 3
    max_weight: float = 1.0
    seeds_per_session: int | None = None
    transactions: Literal["auto", "managed"] = "auto"
    round_trips: Literal["level", "single"] = "level"

    def __post_init__(self) -> None:
        """Check every range."""
        if not callable(getattr(self.strategy, "start", None)):
            check_one_of("strategy", self.strategy, STRATEGY_NAMES)
        check_whole("max_depth", self.max_depth, 1, 20)
        check_within("min_activation", self.min_activation, 0.0, math.inf)
        check_within("tag_sim_floor", self.tag_sim_floor, 0.0, 1.0)
        check_whole("max_branches", self.max_branches, 1, 100)
        check_positive("max_weight", self.max_weight)
        if self.seeds_per_session is not None:
            check_whole("seeds_per_session", self.seeds_per_session, 1, 1_000)
        check_one_of("transactions", self.transactions, ("auto", "managed"))
        check_one_of("round_trips", self.round_trips, ("level", "single"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextConfig:
    """Settings of the context: how it reads, and what counts as said already.

    Attributes
    ----------
    order
        ``relevance``: a tree per seed, the best first; branches by energy.
        ``time``: the same trees, but the memories of each stand oldest first, and each names the
        one that led to it.
    format
        ``text``, ``markdown`` or ``json``; the budget holds for the format chosen.
    duplicate_overlap
        Share of words in common (Jaccard), above 0 up to 1, from which a memory that adds no word
        but fillers to a better one is left out as its duplicate; None: never.
    duplicate_cosine
        Cosine of two embeddings, above 0 up to 1, from which the less good memory is left out;
        `GraphRetriever` then asks the database for such pairs among the best 100 memories. None:
        never.
    """

    order: Literal["relevance", "time"] = "relevance"
    format: Literal["text", "markdown", "json"] = "text"
    duplicate_overlap: float | None = 0.8
    duplicate_cosine: float | None = None

    def __post_init__(self) -> None:
        """Check every range."""
        check_one_of("order", self.order, ("relevance", "time"))
        check_one_of("format", self.format, ("text", "markdown", "json"))
        for name in ("duplicate_overlap", "duplicate_cosine"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
                check_within(name, getattr(self, name), 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverConfig:
    """Settings of a `GraphRetriever`.

    Attributes
    ----------
    seeds, explore, context, store
        Settings of the stages. Where ``seeds`` are the default ones, a strategy that wants others
        has its own (`lif`: eight, `anchor`: by cosine).
    relevance
        Weights of the model that ranks what was found, or None: rank by energy alone, seeds by
        their score (source: 001).
    deadline_s
        Time for one call, unless the call says otherwise; seconds, > 0.
    budget_tokens
        Size of a context, unless the call says otherwise; tokens, >= 1.
    """

    seeds: SeedConfig = field(default_factory=SeedConfig)
    explore: ExploreConfig = field(default_factory=ExploreConfig)
    context: ContextConfig = field(default_factory=ContextConfig)
    store: StoreConfig = field(default_factory=StoreConfig)
    relevance: RelevanceConfig | None = field(default_factory=RelevanceConfig.default)
    deadline_s: float = 10.0
    budget_tokens: int = 2_000

    def __post_init__(self) -> None:
        """Check every range."""
        check_seconds("deadline_s", self.deadline_s)
        check_whole("budget_tokens", self.budget_tokens, 1, 100_000_000)
