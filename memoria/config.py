"""Settings, one frozen object per stage.

Change one for a call with ``dataclasses.replace(config, max_depth=3)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from memoria.errors import ConfigError
from memoria.weights import RelevanceConfig

# Longer than any call; more milliseconds than this would not fit into a message to the server.
MAX_SECONDS = 1_000_000


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
    """

    connect_timeout_s: float = 5.0
    query_timeout_s: float = 10.0
    max_retries: int = 3
    retry_base_s: float = 0.05
    max_sessions: int = 50

    def __post_init__(self) -> None:
        """Check every range."""
        for name in ("connect_timeout_s", "query_timeout_s", "retry_base_s"):
            _seconds(name, getattr(self, name))
        _whole("max_retries", self.max_retries, 0, 10)
        _whole("max_sessions", self.max_sessions, 1, 10_000)


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
        ``rrf`` (reciprocal ranks) or ``linear`` (a weighted sum of scaled scores).
    rrf_k
        Constant of ``rrf``; > 0. Larger: the first ranks count less.
    alpha
        Share of the cosine in ``linear``, 0 to 1; the rest is BM25.
    """

    max_seeds: int = 5
    candidates: int = 50
    fusion: Literal["rrf", "linear"] = "rrf"
    rrf_k: float = 60.0
    alpha: float = 0.5

    def __post_init__(self) -> None:
        """Check every range."""
        _whole("max_seeds", self.max_seeds, 1, 100)
        _whole("candidates", self.candidates, self.max_seeds, 1_000)
        _one_of("fusion", self.fusion, ("rrf", "linear"))
        _positive("rrf_k", self.rrf_k)
        _within("alpha", self.alpha, 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreConfig:
    """Settings of the exploration (source: 001, section 2).

    Attributes
    ----------
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
    """

    max_depth: int = 5
    min_activation: float = 0.005
    tag_sim_floor: float = 0.15
    max_branches: int = 3
    max_weight: float = 1.0
    seeds_per_session: int | None = None
    transactions: Literal["auto", "managed"] = "auto"

    def __post_init__(self) -> None:
        """Check every range."""
        _whole("max_depth", self.max_depth, 1, 20)
        _within("min_activation", self.min_activation, 0.0, math.inf)
        _within("tag_sim_floor", self.tag_sim_floor, 0.0, 1.0)
        _whole("max_branches", self.max_branches, 1, 100)
        _positive("max_weight", self.max_weight)
        if self.seeds_per_session is not None:
            _whole("seeds_per_session", self.seeds_per_session, 1, 1_000)
        _one_of("transactions", self.transactions, ("auto", "managed"))


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
        _one_of("order", self.order, ("relevance", "time"))
        _one_of("format", self.format, ("text", "markdown", "json"))
        for name in ("duplicate_overlap", "duplicate_cosine"):
            if getattr(self, name) is not None:
                _positive(name, getattr(self, name))
                _within(name, getattr(self, name), 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverConfig:
    """Settings of a `GraphRetriever`.

    Attributes
    ----------
    seeds, explore, context, store
        Settings of the stages.
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
        _seconds("deadline_s", self.deadline_s)
        _whole("budget_tokens", self.budget_tokens, 1, 100_000_000)


def _number(name: str, value: object) -> float:
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return value
    except OverflowError:  # a whole number of hundreds of digits
        pass
    raise ConfigError(f"{name} must be a finite number, got {_shown(value)}")


def _positive(name: str, value: object) -> None:
    if _number(name, value) <= 0:
        raise ConfigError(f"{name} must be above 0, got {value}")


def _seconds(name: str, value: object) -> None:
    if not 0 < _number(name, value) <= MAX_SECONDS:
        raise ConfigError(f"{name} must be above 0 and at most {MAX_SECONDS} s, got {value}")


def _within(name: str, value: object, low: float, high: float) -> None:
    if not low <= _number(name, value) <= high:
        raise ConfigError(f"{name} must be in [{low}, {high}], got {value}")


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ConfigError(
            f"{name} must be a whole number from {low} to {high}, got {_shown(value)}"
        )


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"{name} must be one of {', '.join(allowed)}; got {_shown(value)}")


def _shown(value: object) -> str:
    """Text of a wrong value; Python refuses to print a whole number of thousands of digits."""
    long = isinstance(value, int) and value.bit_length() > 64
    return "a very large number" if long else repr(value)[:100]
