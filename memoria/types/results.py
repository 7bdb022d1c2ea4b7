"""What a recall returns: the ranked memories, the context for a prompt, and the trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import permutations
from typing import Any, Literal
from uuid import uuid4

from memoria._support.wording import cut_inside, number_of
from memoria._support.wording import shown as as_shown
from memoria.types.drawing import (
    MAX_DRAWN,
    context_html,
    graph_of,
    picture_of,
    picture_of_leading,
    sections_of,
    why_html,
)
from memoria.types.explorations import Exploration
from memoria.types.leading import Leading, leading
from memoria.types.memory import MemoryNode
from memoria.types.paths import Edge, Path, Seeds, path_order
from memoria.types.picture import page
from memoria.types.renaming import Renamer
from memoria.types.window import TimeWindow

_SCOPE_CHARS = 40  # of its name in a picture

OmitReason = Literal["budget", "duplicate", "no_text", "relevance", "filter"]


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
        The path by which most energy came to the memory from another one. Where none came, a path
        that begins at the memory, as the search found it, or a chain of needs to it. Without
        relevance weights, the search counts as well.
    features
        The features of the memory, by name; see `RelevanceConfig`. Empty without relevance weights.
    shares
        Share of each feature in the relevance: its value times its weight. The shares add up to the
        logarithm of ``score``, plus a constant that is the same for all memories of a recall.
    relevance
        Probability that the memory is evidence for the query, 0 to 1; it never falls where the
        score rises. Unlike the score, it can be low for all memories of a recall. None without a
        `Calibration`, if the query or all that was found has no vector, and while the examples of
        small talk, with which the query is compared, could not be embedded.
    needed_by
        Id of each ranked memory that needs this one -> weight of the edge. Its relation is one that
        the scope declares as a need (`RelationRoles`); if it declares none, the names and the shape
        of the graph decide. The gain from these memories is the share ``needed``. Empty without
        relevance weights.
    adjacent
        Ids of the ranked memories that are one or two places before or after this one in one text
        or talk. They are joined by relations that the scope declares as an order (`RelationRoles`);
        if it declares none, by those with usual names, such as ``next`` and ``reply to``. The gain
        from these memories is the share ``adjacent``. Empty without relevance weights.
    session
        Id of the memory's session, and the session's number of edges. The gain from other messages
        of the session is the share ``in_session``. None outside sessions, and without relevance
        weights.
    newer
        Id of the newest ranked statement that almost surely replaces this one: it is newer, by the
        same speaker or remembered without one, and about the same thing. None if there is none, and
        if the question does not ask for the present, the past, or how something changed.
    """

    memory: MemoryNode
    score: float
    path: Path
    features: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    relevance: float | None = None
    needed_by: Mapping[str, float] = field(default_factory=dict)
    adjacent: Sequence[str] = ()
    session: tuple[str, int] | None = None
    newer: str | None = None

    @property
    def id(self) -> str:
        """Id of the memory."""
        return self.memory.id

    @property
    def scope(self) -> str:
        """Scope of the memory; "" where only that of the retriever is read."""
        return self.path.scope


def best_relevance(ranked: Iterable[RankedMemory]) -> float | None:
    """Return the highest relevance; None if one is not known, or nothing was found."""
    relevance = [entry.relevance for entry in ranked]
    known = [one for one in relevance if one is not None]
    return max(known) if known and len(known) == len(relevance) else None


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
        Energy with which the path reached the memory; 0 if only a need led to it.
    path
        As `RankedMemory.path`.
    label
        Name of the memory in the text, between brackets: a short label, or its id; see
        `ContextConfig.names`.
    """

    id: str
    kind: str
    date: datetime | None
    score: float
    path: Path
    label: str = ""

    @property
    def scope(self) -> str:
        """Scope of the memory; "" where only that of the retriever is read."""
        return self.path.scope


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
        unlikely to be evidence, or even the best memory is, see `ContextConfig.min_relevance` and
        `ContextConfig.min_best_relevance`; ``filter``: it does not fit the
        filter of the recall, or asks what the query asks, and was only on the way to others.
    duplicate_of
        For ``duplicate``, the id of that better memory; else None.
    scope, duplicate_scope
        Scope of the memory, and of that better one; "" where only that of the retriever is read.
    """

    id: str
    score: float
    reason: OmitReason
    duplicate_of: str | None = None
    scope: str = field(default="", repr=False)
    duplicate_scope: str = field(default="", repr=False)


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

    @property
    def omitted_by_reason(self) -> dict[str, int]:
        """How many memories were left out for each reason that there was."""
        return dict(sorted(Counter(item.reason for item in self.omitted).items()))

    def _repr_html_(self) -> str:
        left_out = len(self.omitted)
        return context_html(
            self.text, memories=len(self.items), tokens=self.tokens, left_out=left_out
        )

    def __repr__(self) -> str:
        memories = number_of(len(self.items), "memory", "memories")
        return f"<ContextPack: {memories}, {self.tokens} tokens, {len(self.omitted)} left out>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The record of a recall; enough to explain it, to learn from it, and to run it again.

    Attributes
    ----------
    query, query_tags, scope
        The question, its tags, and the scope that was asked; if several were, the first of them.
    started_at
        When the recall began; an aware datetime.
    timings_s
        Wall time by stage (``embed``, ``wait``, ``seeds``, ``explore``, ``hydrate``, ``rank``,
        ``pack``); seconds. ``wait`` is the time until the recall had its turn.
        ``hydrate`` is the part of ``explore`` spent waiting for texts that the queries of the
        levels did not return, and for the query of the ranking; a stream sends these queries while
        the levels continue.
    degraded
        For each part that failed or was late, a sentence that says why.
    notes
        What else a reader should know, in sentences, such as why the context is empty.
    id
        Id of this recall; no other recall has it.
    seeds, explorations, needed
        The result of the search, the explorations that started from it, and chains of needs, as in
        `Recall`.
    config
        Settings of the stages, as plain data; see `memoria.recall.plain_settings.settings_of`.
    vector
        Embedding of the query, or None.
    vector_generation
        Number of the generation of stored vectors that it was compared with; see `ServerFacts`.
    contributed
        What the strategy of ``config`` brought, in numbers of memories: ``reached`` by its energy
        over at least one hop, ``only_reached`` of these, which the search did not find, and of the
        latter how many the context holds (``packed``).
    packed
        Ids of the memories in the context, best first.
    window
        The time that the question is about, which the recall preferred; None if it does not name
        one.
    layers
        Where several scopes were read, a trace of each scope, in order: the part of this one that
        was found there. It has no paths if nothing was found, or if the scope could not be read, as
        ``degraded`` says. Empty where one scope was read.
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
    needed: tuple[Path, ...] = field(default=(), repr=False)
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)
    vector: tuple[float, ...] | None = field(default=None, repr=False)
    vector_generation: int = field(default=1, repr=False)
    contributed: Mapping[str, int] = field(default_factory=dict)
    packed: tuple[str, ...] = ()
    window: TimeWindow | None = None
    layers: tuple[Trace, ...] = field(default=(), repr=False)

    @property
    def scopes(self) -> tuple[str, ...]:
        """All scopes that the recall was to read, even where nothing was found."""
        return tuple(layer.scope for layer in self.layers) or (self.scope,)

    def of(self, scope: str) -> Trace | None:
        """Return the part that was found in a scope: to learn from; None if it was not read."""
        return next((each for each in (self.layers or (self,)) if each.scope == scope), None)


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
        The memories, best first; only those that fit the filter of the recall.
    context
        The memories packed for a prompt.
    trace
        How the recall came about.
    hits
        The other hits of the search, best first, each a path without hops.
    needed
        Chains of edges whose relations say that the source needs the target: one to each memory
        that a seed needs, or that such a memory needs in turn; at most 100. No energy came that
        way, so its energies are 0.
    edges
        The edges between memories that were found, whether or not a path took them: of each pair
        the strongest one whose relation says more than both texts. Empty without relevance weights.
    """

    seeds: Seeds
    explorations: tuple[Exploration, ...]
    ranked: tuple[RankedMemory, ...]
    context: ContextPack
    trace: Trace
    hits: tuple[Path, ...] = ()
    needed: tuple[Path, ...] = ()
    edges: tuple[Edge, ...] = ()

    @property
    def best_relevance(self) -> float | None:
        """Relevance of the most relevant memory, a probability.

        None if nothing was found, or if the relevance of any memory is not known.
        """
        return best_relevance(self.ranked)

    @property
    def leading(self) -> Leading:
        """The paths that lead to what is in the context, and how many others there are."""
        return leading(self.explorations, self.context.items)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths of all explorations, most energy first."""
        return tuple(sorted((path for e in self.explorations for path in e.paths), key=path_order))

    def to_svg(self, *, max_memories: int | None = None) -> str:
        """Draw the paths that lead to the context, with the energy of every memory and hop.

        Parameters
        ----------
        max_memories
            Draw all paths by energy, as long as they contain no more memories than these. By
            default, only paths that lead to the context are drawn, as many as fit on a screen; or
            all paths if the context is empty.

        Returns
        -------
        str
            An SVG document that loads nothing.
        """
        query, tags, shown = self.trace.query, self.trace.query_tags, self._shown()
        found, packed = shown.leading, {item.id for item in shown.context.items}
        if max_memories is None and found.paths:
            return picture_of_leading(found, packed, question=query, tags=tags)
        most = MAX_DRAWN if max_memories is None else max_memories
        return picture_of(shown.explorations, question=query, tags=tags, most=most)

    def to_html(self) -> str:
        """Return a page of the context, the paths and the first memories, which loads nothing."""
        ranked = [(each.score, each.memory) for each in self._shown().ranked]
        remarks = (*self.trace.degraded, *self.trace.notes)
        everything = self.to_svg(max_memories=MAX_DRAWN)
        parts = sections_of(self._answer(), everything, ranked, remarks)
        return page(self.trace.query, parts)

    def to_graph(self) -> dict[str, list[dict[str, Any]]]:
        """Return what was reached as plain data, for programs that draw graphs.

        Returns
        -------
        dict
            ``nodes``, each with ``id`` (with its scope as a prefix, where several were read; scopes
            whose names begin alike are numbered), ``caption``,
            ``size`` (radius, by the root of the energy), ``color`` (by kind) and ``properties``:
            kind, text, energy, ``rank`` (from 1, or None) and ``in_context``.
            ``relationships``, each with ``source`` and ``target`` as the edge is stored,
            ``caption`` (its relation), ``width`` (by the root of the energy) and ``properties``:
            what the energy of its best hop was calculated from.
        """
        shown = self._shown()
        ranks = {each.id: rank for rank, each in enumerate(shown.ranked, start=1)}
        packed = [item.id for item in shown.context.items]
        return graph_of(shown.explorations, packed=packed, ranks=ranks)

    def _shown(self) -> Recall:
        """Return the recall as it is drawn: with several scopes, ids have them as a prefix."""
        if not self.trace.layers:
            return self
        to = {scope: Renamer(prefix) for scope, prefix in _prefixes(self.trace.scopes).items()}
        explorations = (
            replace(
                each,
                seed=to[each.seed.scope].seed(each.seed),
                paths=tuple(map(to[each.seed.scope].path, each.paths)),
            )
            for each in self.explorations
        )
        ranked = (replace(each, memory=to[each.scope].memory(each.memory)) for each in self.ranked)
        items = (
            replace(item, id=to[item.scope].id(item.id), path=to[item.scope].path(item.path))
            for item in self.context.items
        )
        return replace(
            self,
            explorations=tuple(explorations),
            ranked=tuple(ranked),
            context=replace(self.context, items=tuple(items)),
        )

    def _repr_html_(self) -> str:
        return self._answer()

    def _answer(self) -> str:
        """Return the context, and why these memories are in it, as HTML; the picture is folded."""
        shown = self._shown()
        labels = {item.id: item.label for item in shown.context.items}
        return self.context._repr_html_() + why_html(shown.leading, labels, self.to_svg())

    def __repr__(self) -> str:
        paths = sum(len(each.paths) for each in self.explorations)
        return (
            f"<Recall {as_shown(self.trace.query)}: "
            f"{number_of(len(self.explorations), 'seed')}, {number_of(paths, 'path')}, "
            f"{len(self.ranked)} memories ranked, {self.context.tokens} tokens of context>"
        )


def _prefixes(scopes: Sequence[str]) -> dict[str, str]:
    """Return what to put before the ids of each scope, so that no two ids become the same."""
    names = [f"{cut_inside(scope, _SCOPE_CHARS)}/" for scope in scopes]
    if any(one.startswith(other) for one, other in permutations(names, 2)):
        names = [f"{number}:{name}" for number, name in enumerate(names, start=1)]
    return dict(zip(scopes, names, strict=True))
