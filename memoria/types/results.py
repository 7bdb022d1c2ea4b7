"""What a recall returns: the ranked memories, the context for a prompt, and the trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import uuid4

from memoria.types.memory import MemoryNode
from memoria.types.paths import Exploration, Path, Seeds

OmitReason = Literal["budget", "duplicate", "no_text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedMemory:
    """A memory in the final order of a recall.

    Attributes
    ----------
    memory
        The memory.
    score
        Relevance relative to the best, in (0, 1]; without a relevance model the highest energy
        with which any path reached it, and for a seed at least its own score.
    path
        The path that brought it there: the one with most energy, or that of a hit.
    features
        What speaks for it, by name; see `RelevanceConfig`. Empty without a relevance model.
    shares
        Share of each feature in the relevance: its value times its weight; and ``behind_seed``,
        what was taken to place a memory that matches less behind the seed that brought it. They
        add up to the logarithm of ``score``, but for what all memories of a recall have in common.
    """

    memory: MemoryNode
    score: float
    path: Path
    features: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """A memory that made it into a context.

    Attributes
    ----------
    id, kind
        Of the memory.
    date
        When it was made, or None.
    score
        Energy with which its path reached it.
    path
        The path that brought it.
    """

    id: str
    kind: str
    date: datetime | None
    score: float
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class OmittedItem:
    """A memory that did not make it into a context.

    Attributes
    ----------
    id
        Of the memory.
    score
        Energy with which its best path reached it.
    reason
        ``budget``: no room for it; ``duplicate``: it says what a better one says; ``no_text``: its
        text is empty, or could not be read in time.
    duplicate_of
        Id of that better one, for ``duplicate``; else None.
    """

    id: str
    score: float
    reason: OmitReason
    duplicate_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPack:
    """Text for a prompt, and where each part of it comes from.

    Attributes
    ----------
    text
        The context; at most the budget's tokens.
    items
        The memories in it, in the order of the text.
    tokens
        Tokens used, by the counter that packed it.
    omitted
        The memories left out, best first.
    """

    text: str
    items: tuple[ContextItem, ...]
    tokens: int
    omitted: tuple[OmittedItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """How a recall came about; enough to explain it, to learn from it, and to run it again.

    Attributes
    ----------
    query, query_tags, scope
        What was asked, and of whom.
    started_at
        When; aware datetime.
    timings_s
        Wall time by stage (``embed``, ``wait``, ``seeds``, ``explore``, ``hydrate``, ``rank``,
        ``pack``); seconds. ``wait`` is the time until other recalls left it a turn.
        ``hydrate`` is the part of ``explore`` spent waiting for texts that did not come with the
        levels, and for what ranking asks; while streaming beside the levels.
    degraded
        What did not work as well as it could have, one sentence each.
    id
        Its own, of no other recall.
    seeds, explorations
        What the search found, and what came of it.
    config
        Settings of the stages, as plain data; see `memoria.plain.settings.settings_of`.
    vector
        Embedding of the query, or None.
    """

    query: str
    query_tags: tuple[str, ...]
    scope: str
    started_at: datetime
    timings_s: Mapping[str, float]
    degraded: tuple[str, ...]
    id: str = field(default_factory=lambda: uuid4().hex)
    seeds: Seeds = field(default=Seeds(seeds=()), repr=False)
    explorations: tuple[Exploration, ...] = field(default=(), repr=False)
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)
    vector: tuple[float, ...] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Everything that one recall found.

    Attributes
    ----------
    seeds
        Result of the hybrid search.
    explorations
        One per seed, in the order of the seeds.
    ranked
        The memories, best first; only of the kinds asked for.
    context
        The memories packed for a prompt.
    trace
        How it came about.
    hits
        The other hits of the search, best first, each a path without hops.
    """

    seeds: Seeds
    explorations: tuple[Exploration, ...]
    ranked: tuple[RankedMemory, ...]
    context: ContextPack
    trace: Trace
    hits: tuple[Path, ...] = ()
