"""What a recall returns: the ranked memories, the context for a prompt, and the trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import uuid4

from memoria.types.memory import MemoryNode
from memoria.types.paths import Exploration, Path, Seeds

OmitReason = Literal["budget", "duplicate", "no_text", "relevance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedMemory:
    """A memory in the final order of a recall.

    Attributes
    ----------
    memory
        The memory.
    score
        Relevance relative to the best memory, in (0, 1]. Without relevance weights: the highest
        energy with which any path reached the memory; for a seed, at least its own score.
    path
        The path that brought the memory: the path with the most energy, or that of a hit.
    features
        The features of the memory, by name; see `RelevanceConfig`. Empty without relevance weights.
    shares
        Share of each feature in the relevance: its value times its weight. The shares add up to the
        logarithm of ``score``, plus a constant that is the same for all memories of a recall.
    relevance
        Probability that the memory is evidence for the query, 0 to 1; it never falls where the
        score rises. Unlike the score, it can be low for all memories of a recall. None without a
        `Calibration`, and where nothing that was found has a vector, or too little was found (fewer
        than 21 memories) to tell near from far.
    """

    memory: MemoryNode
    score: float
    path: Path
    features: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    relevance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """A memory that made it into a context.

    Attributes
    ----------
    id, kind
        Id and kind of the memory.
    date
        When the memory was made, or None.
    score
        Energy with which the path reached the memory.
    path
        The path that brought the memory.
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
        Id of the memory.
    score
        Energy with which its best path reached the memory.
    reason
        ``budget``: there was no room left; ``duplicate``: a better memory says the same;
        ``no_text``: the text is empty, or could not be read in time; ``relevance``: it is too
        unlikely to be evidence, see `ContextConfig.min_relevance`.
    duplicate_of
        For ``duplicate``, the id of that better memory; else None.
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
        The context; at most as many tokens as the budget allows. Empty where nothing is relevant:
        `Trace.notes` says so.
    items
        The memories in it, in the order of the text.
    tokens
        Tokens of the text, as counted by the packer's own counter.
    omitted
        The memories left out, best first.
    """

    text: str
    items: tuple[ContextItem, ...]
    tokens: int
    omitted: tuple[OmittedItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The record of a recall; enough to explain it, to learn from it, and to run it again.

    Attributes
    ----------
    query, query_tags, scope
        The question, its tags, and the scope that was asked.
    started_at
        When the recall began; an aware datetime.
    timings_s
        Wall time by stage (``embed``, ``wait``, ``seeds``, ``explore``, ``hydrate``, ``rank``,
        ``pack``); seconds. ``wait`` is the time until the recall had its turn.
        ``hydrate`` is the part of ``explore`` spent waiting for texts that the queries of the
        levels did not return, and for the query of the ranking; a stream sends these queries while
        the levels go on.
    degraded
        For each part that did not work as well as it could have, a sentence that says why.
    notes
        What else a reader should know, in sentences, such as why the context is empty.
    id
        Id of this recall; no other recall has it.
    seeds, explorations
        The result of the search, and the explorations that started from it.
    config
        Settings of the stages, as plain data; see `memoria.plain.settings.settings_of`.
    vector
        Embedding of the query, or None.
    contributed
        What the strategy of ``config`` brought, in numbers of memories: ``reached`` by its energy
        over at least one hop, ``only_reached`` of these, which the search did not find, and of the
        latter how many the context holds (``packed``).
    """

    query: str
    query_tags: tuple[str, ...]
    scope: str
    started_at: datetime
    timings_s: Mapping[str, float]
    degraded: tuple[str, ...]
    notes: tuple[str, ...] = ()
    id: str = field(default_factory=lambda: uuid4().hex)
    seeds: Seeds = field(default=Seeds(seeds=()), repr=False)
    explorations: tuple[Exploration, ...] = field(default=(), repr=False)
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)
    vector: tuple[float, ...] | None = field(default=None, repr=False)
    contributed: Mapping[str, int] = field(default_factory=dict)


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
        How the recall came about.
    hits
        The other hits of the search, best first, each a path without hops.
    """

    seeds: Seeds
    explorations: tuple[Exploration, ...]
    ranked: tuple[RankedMemory, ...]
    context: ContextPack
    trace: Trace
    hits: tuple[Path, ...] = ()
