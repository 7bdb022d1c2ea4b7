"""The calls of an agent that read: recalls, explanations, memories as they are, a scope's state.

In: the words of a model, checked. Out: `Answer`s. Reads only.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from typing import Any, Literal, Self

from memoria._support.checks import (
    check_ids,
    check_number,
    check_seconds,
    check_strings,
    check_whole,
)
from memoria._support.wording import number_of
from memoria.agents.answer import (
    Answer,
    fenced_apart,
    frame_of,
    likely_longest,
    lines_that_fit,
    name_of,
)
from memoria.agents.explaining import explanation, explanation_data, ranked_in
from memoria.agents.kept import KeptRecalls, Place, Scopes
from memoria.agents.kinds import ANSWER_TOKENS, MAX_TOKENS, MIN_TOKENS
from memoria.agents.opening import Opened
from memoria.agents.words import (
    LONGEST_WEAKNESS,
    newest,
    notes_on,
    recalled,
    state,
    weakness,
    why_empty,
)
from memoria.errors import (
    DeadlineError,
    EmptyScopeError,
    InvalidInputError,
    MemoriaError,
    UnavailableError,
)
from memoria.graph.hydrate import superseded_of
from memoria.graph.stats import count_memories, scope_stats
from memoria.recall.context import estimate_tokens
from memoria.recall.context.config import ContextConfig
from memoria.retriever import GraphRetriever
from memoria.types import MemoryFilter, MemoryNode, Path, Recall

log = logging.getLogger(__name__)

#: Up to here counting takes as long as a bare round trip; a larger scope holds "more than" this.
MOST_COUNTED = 10_000
MAX_OPENED = 50
_NOTE_TOKENS = 40

#: Scope -> number of its memories, at most one more than `MOST_COUNTED`.
Sizes = Mapping[str, int]
#: Called with the number of paths so far, and the last of them.
OnPath = Callable[[int, Path], Awaitable[None]]


class AgentReader:
    """Memory as an agent reads it: each call answers with a text for the model, and with data.

    It reads only; `AgentMemory` writes, too. Each answer names the scope and how many memories that
    holds. A scope without a memory is an error for what reads, so that the model does not take the
    wrong scope for an empty memory; the first `AgentMemory.remember` makes it.

    Parameters
    ----------
    retriever
        Gives its scope, the other scopes that it reads, its embedder and all its settings.
    budget_tokens
        Tokens of an answer if a call does not say; 100 to 20,000.
    deadline_s
        Time for a recall if a call does not say; seconds, > 0.
    recalls
        Where recalls are kept for `explain` and `feedback`; None: the last 256 of this object.
    read_only
        Whether what writes is refused.
    """

    def __init__(
        self,
        retriever: GraphRetriever,
        *,
        budget_tokens: int = ANSWER_TOKENS,
        deadline_s: float = 5.0,
        recalls: KeptRecalls | None = None,
        read_only: bool = False,
    ) -> None:
        self.retriever = retriever
        self.budget_tokens = _tokens(budget_tokens, "budget_tokens")
        self.deadline_s = check_number(deadline_s, "deadline_s", low=0, high=3_600, above_low=True)
        self.recalls = KeptRecalls() if recalls is None else recalls
        self.read_only = read_only
        self._count = retriever.count_tokens or estimate_tokens
        self._on_path: OnPath | None = None

    @property
    def _reads(self) -> Scopes:
        """The scopes that this memory may read."""
        return self._scopes if self.retriever.also_read else self.retriever.scope

    def kept(self, recall_id: str) -> Recall:
        """Return one of the recalls kept, of those that read the same scopes.

        Raises
        ------
        InvalidInputError
            The recall is not among them.
        """
        return self.recalls.get(self._reads, recall_id)

    def telling(self, on_path: OnPath) -> Self:
        """Return the same memory, whose recalls call ``on_path`` whenever a path has ended."""
        other = copy(self)
        other._on_path = on_path
        return other

    async def recall(
        self,
        query: str,
        *,
        tags: Iterable[str] = (),
        max_tokens: int | None = None,
        deadline_s: float | None = None,
        order: Literal["relevance", "time"] | None = None,
        context: ContextConfig | None = None,
        where: MemoryFilter | None = None,
        as_of: datetime | None = None,
        time_zone: str | None = None,
    ) -> Answer:
        """Recall what bears on a question, in at most ``max_tokens`` tokens.

        Parameters
        ----------
        tags
            Tags that steer the search; see `GraphRetriever.recall`.
        max_tokens
            Tokens of the whole answer; 100 to 20,000.
        deadline_s
            Time for the whole call; seconds, > 0. First the memories of the scope are counted; the
            recall has the rest.
        order
            Order of the memories in the text; None: as the context is set.
        context
            Settings of the context; None: those of the retriever.
        where, as_of, time_zone
            As in `GraphRetriever.recall`; ``exclude_ids`` may also name memories by their labels.

        Raises
        ------
        EmptyScopeError
            The scope holds no memory.
        MemoriaError
            As `GraphRetriever.recall`.
        """
        steering = check_strings(tags, "tags")
        until = self._until(deadline_s)
        size = await self._held(until)
        budget = self._budget(max_tokens)
        head = "\n".join([self._recalled_head(likely_longest(16), 100, size), LONGEST_WEAKNESS])
        room = budget - self._frame(head) - _NOTE_TOKENS
        config = self.retriever.config
        shown = replace(context or config.context, label_prefix=self.recalls.letter(self._reads))
        if order is not None:
            shown = replace(shown, order=order)
        given: dict[str, Any] = {
            "query_tags": steering,
            "budget_tokens": max(room, 1),
            "deadline_s": _left_s(until),
            "config": replace(config, context=shown),
            "where": self._excluding(where) if where and where.exclude_ids else where,
            "as_of": as_of,
            "time_zone": time_zone,
        }
        if self._on_path is None:
            found = await self.retriever.recall(query, **given)
        else:
            found = await self._streamed(query, given, self._on_path)
        await self.recalls.keep(found, self._reads)
        return self._recalled(found, size, budget)

    def _excluding(self, where: MemoryFilter) -> MemoryFilter:
        """Return a filter that also excludes the memories whose labels it names.

        A label without brackets may also be the id of another memory: both are excluded.
        """
        known = self.recalls.labelled(self._reads, where.exclude_ids)
        in_brackets = {name for name in known if name.startswith("[")}
        return replace(where, exclude_ids={*where.exclude_ids, *known.values()} - in_brackets)

    async def _streamed(self, query: str, given: dict[str, Any], on_path: OnPath) -> Recall:
        async with self.retriever.recall_stream(query, **given) as paths:
            number = 0
            async for path in paths:
                number += 1
                await on_path(number, path)
        return paths.result

    async def recalled(self, recall_id: str) -> Answer:
        """Return the answer of one of the recalls kept, once more.

        Raises
        ------
        InvalidInputError
            The recall is not among those kept.
        """
        found = self.kept(recall_id)
        return self._recalled(found, await self._size(), self.budget_tokens)

    def _recalled(self, found: Recall, size: Sizes, budget: int) -> Answer:
        context = found.context
        head = self._recalled_head(found.trace.id, len(context.items), size)
        head = "\n".join([head, *weakness(found)])
        body = context.text if context.items else why_empty(found)
        left = budget - self._frame(head) - self._count(f"{body}\n")
        notes = lines_that_fit(notes_on(found), left, self._count)
        text = fenced_apart(head, "\n".join([body, *notes]))
        return Answer(text=text, data=self._about(size) | recalled(found), found=found)

    def _recalled_head(self, recall_id: str, packed: int, size: Sizes) -> str:
        return f"Recall {recall_id}: {packed} of {self._holds(size)}."

    async def explain(self, recall_id: str, memory_id: str) -> Answer:
        """Explain why a recall came upon a memory: seed, hops with their numbers, ranking.

        Name the memory by its label or its id.

        Raises
        ------
        InvalidInputError
            The recall is not among those kept, or did not find the memory.
        """
        recall = self.kept(recall_id)
        scope, id_ = self.recalls.place_of(self._reads, memory_id, recall_id)
        rank, found = ranked_in(recall, id_, scope)
        size = await self._size()
        head = f"Why recall {recall.trace.id} found a memory, one of {self._holds(size)}."
        lines = explanation(recall, rank, found)
        shown = lines_that_fit(lines, self.budget_tokens - self._frame(head), self._count)
        data = self._about(size) | explanation_data(recall, rank, found)
        return Answer(text=fenced_apart(head, "\n".join(shown)), data=data)

    async def open(self, ids: Iterable[str], *, max_tokens: int | None = None) -> Answer:
        """Read memories as they are, outdated ones as well, with their strongest edges.

        Parameters
        ----------
        ids
            Labels from earlier answers, or ids of memories; at most 50. The answer names the
            unknown ones. A label without brackets may also be the id of another memory: both are
            shown, and the answer says so.
        max_tokens
            Tokens of the whole answer; 100 to 20,000.

        Raises
        ------
        EmptyScopeError
            The scope holds no memory.
        InvalidInputError
            There are too many ids, or one is not valid.
        """
        names = listed_ids(ids)
        meant = {name: self.recalls.place_of(self._reads, name) for name in names}
        return (await self._open(meant, max_tokens))[0]

    async def open_address(
        self, address: str, *, max_tokens: int | None = None
    ) -> tuple[Answer, tuple[str, MemoryNode] | None]:
        """Read one memory as `open` does; return it after its scope, too, or None if it is missing.

        An address names an id. Only where several scopes are read, which may have equal ids, may it
        also be a label in brackets.
        """
        (name,) = listed_ids([address])
        is_label = bool(self.retriever.also_read) and name.startswith("[")
        place = self.recalls.place_of(self._reads, name) if is_label else ("", name)
        answer, opened = await self._open({name: place}, max_tokens)
        return answer, next(iter(opened.shown), None)

    async def _open(
        self, meant: Mapping[str, Place], max_tokens: int | None
    ) -> tuple[Answer, Opened]:
        """Read the memories that names mean, by name, and those that have these names as ids."""
        places = dict.fromkeys(meant.values())
        labels = [name for name in meant if ("", name) not in places and not name.startswith("[")]
        size = await self._held()
        frame = self._frame(self._opened_head(len(places) + len(labels), size))
        opened = Opened(self._budget(max_tokens) - frame - _NOTE_TOKENS, self._count)
        replaced: dict[str, str] = {}
        gone: list[str] = []  # labels say of which scope they were: no other one is searched
        unknown = [id_ for scope, id_ in places if not scope]  # looked for in each scope in turn
        unknown = [*dict.fromkeys((*unknown, *labels))]
        for scope in self._scopes:
            labelled = [id_ for named, id_ in places if named == scope]
            wanted = tuple(dict.fromkeys((*labelled, *unknown)))
            if wanted:
                outdated = await superseded_of(self.retriever.store, scope, wanted)
                shown = {*opened.ids, *opened.cut}  # the data have one place for equal ids
                replaced |= {id_: by for id_, by in outdated.items() if id_ not in shown}
                opened.superseded, opened.missing = outdated, []
                heading = f"In scope {name_of(scope)}:" if len(self._scopes) > 1 else ""
                await opened.read(self._of(scope), wanted, heading)
                gone += [id_ for id_ in opened.missing if id_ not in unknown]
                unknown = [id_ for id_ in unknown if id_ in opened.missing]
        opened.missing = [id_ for id_ in dict.fromkeys((*gone, *unknown)) if id_ not in labels]
        opened.named_twice = [name for name in labels if _is_twice(name, meant[name], opened)]
        notes = lines_that_fit(opened.notes, _NOTE_TOKENS, self._count)
        body = "\n".join([*([opened.text] if opened.text else []), *notes])
        answer = Answer(
            text=fenced_apart(self._opened_head(len(opened.ids), size), body),
            data=self._about(size)
            | {
                "ids": opened.ids,
                "missing": opened.missing,
                "truncated": opened.cut,
                "superseded": replaced,
            },
        )
        return answer, opened

    def _of(self, scope: str) -> GraphRetriever:
        """Return the retriever of a scope that is read."""
        own = self.retriever.scope
        return self.retriever if scope == own else self.retriever.for_scope(scope)

    def _opened_head(self, shown: int, size: Sizes) -> str:
        return f"{shown} of {self._holds(size)}, with their edges."

    async def recent(self, *, limit: int = 20, max_tokens: int | None = None) -> Answer:
        """Read the newest memories of the own scope, the beginning of each in one line.

        Raises
        ------
        EmptyScopeError
            The own scope holds no memory.
        """
        size = await self._size()
        own = {self.retriever.scope: size[self.retriever.scope]}
        self._check_any(own)
        head = f"The newest of {self._holds(own)}."
        found = await self.retriever.recent(limit=limit)
        room = self._budget(max_tokens) - self._frame(head)
        shown = lines_that_fit(map(newest, found), room, self._count)
        data = self._about(size) | {"ids": [one.id for one in found[: len(shown)]]}
        return Answer(text=fenced_apart(head, "\n".join(shown)), data=data)

    async def status(self) -> Answer:
        """Say which scope this is, what it holds, and whether the database is in order.

        A scope that holds nothing is not an error here.
        """
        try:
            async with asyncio.timeout(self.deadline_s):
                stats = await scope_stats(self.retriever.store, self.retriever.scope)
                facts = await self.retriever.server_facts()
        except TimeoutError as exc:
            raise DeadlineError(
                f"the memories could not be counted in {self.deadline_s:g} s"
            ) from exc
        others = await self._size() if self.retriever.also_read else {}
        also = [f"{_number(others[name])} of scope {name_of(name)}" for name in others][1:]
        more = f"\nRecalls also read {', '.join(also)}." if also else ""
        return Answer(
            text=state(stats, facts, read_only=self.read_only) + more,
            data={
                **({"also_read": self._about(others)["also_read"]} if also else {}),
                "scope": stats.scope,
                "scope_size": stats.memories,
                "kinds": dict(stats.kinds),
                "edges": stats.edges,
                "embedded": stats.embedded,
                "pending_vectors": stats.pending_vectors,
                "embedder": facts.embedder,
                "indexes": dict(facts.indexes),
                "server": facts.version,
                "read_only": self.read_only,
                "version": version("memoria-graph"),
            },
        )

    async def sizes(self) -> Sizes:
        """Return how many memories each scope that is read holds, the own one first.

        Raises
        ------
        UnavailableError
            A scope could not be counted.
        """
        size = await self._size()
        if uncounted := len(self._scopes) - len(size):
            raise UnavailableError(
                f"{number_of(uncounted, 'scope')} could not be counted: try again"
            )
        return size

    def _until(self, deadline_s: float | None = None) -> float:
        """Return when a call that begins now must be over, by the loop's clock."""
        given = self.deadline_s if deadline_s is None else check_seconds(deadline_s, "deadline_s")
        return asyncio.get_running_loop().time() + given

    @property
    def _scopes(self) -> tuple[str, ...]:
        """All scopes that are read, the own one first."""
        return (self.retriever.scope, *self.retriever.also_read)

    async def _size(self, until: float | None = None) -> Sizes:
        """Return how many memories each scope that is read holds, the own one first.

        A further scope that can't be counted is left out: it must not cost an answer, least of all
        that of a call that has written.
        """
        until = self._until() if until is None else until
        counts = await asyncio.gather(
            *(
                count_memories(self.retriever.store, scope, limit=MOST_COUNTED + 1, until=until)
                for scope in self._scopes
            ),
            return_exceptions=True,
        )
        size: dict[str, int] = {}
        for scope, count in zip(self._scopes, counts, strict=True):
            if not isinstance(count, BaseException):
                size[scope] = count
            elif scope == self.retriever.scope or not isinstance(count, MemoriaError):
                raise count
            else:
                log.warning("can't count a scope that is also read (%s)", type(count).__name__)
        return size

    async def _held(self, until: float | None = None) -> Sizes:
        """Return how many memories the scopes hold, if there are any."""
        size = await self._size(until)
        if len(size) == len(self._scopes):  # one that was not counted may hold some
            self._check_any(size)
        return size

    def _check_any(self, size: Sizes) -> None:
        if not any(size.values()):
            write = "It can't be written here." if self.read_only else "Remember something first."
            raise EmptyScopeError(
                f"scope {name_of(self.retriever.scope)} is empty, so there is nothing to "
                f"read. {write} If it should contain memories, this is the wrong scope."
            )

    def _holds(self, size: Sizes) -> str:
        scopes = ", ".join(map(name_of, size))
        return f"{_number(sum(size.values()))} in {'scopes' if len(size) > 1 else 'scope'} {scopes}"

    def _now(self, size: Sizes) -> str:
        own = self.retriever.scope
        return f"Scope {name_of(own)} now contains {_number(size[own])}."

    def _about(self, size: Sizes) -> dict[str, Any]:
        own = self.retriever.scope
        others = {scope: min(size[scope], MOST_COUNTED) for scope in size if scope != own}
        return {
            "scope": own,
            "scope_size": min(size[own], MOST_COUNTED),
            "scope_size_exact": size[own] <= MOST_COUNTED,
            **({"also_read": others} if others else {}),
        }

    def _named(self, names: Iterable[str], recall_id: str | None = None) -> tuple[str, ...]:
        """Return the ids of memories of the own scope for their labels or ids, each once."""
        own = self.retriever.scope
        places = [self.recalls.place_of(self._reads, name, recall_id) for name in names]
        for scope, _ in places:
            if scope not in ("", own):
                raise InvalidInputError(
                    f"a memory is of scope {name_of(scope)}, which can only be read here: name "
                    f"memories of scope {name_of(own)}"
                )
        return tuple(dict.fromkeys(id_ for _, id_ in places))

    def _budget(self, max_tokens: int | None) -> int:
        return self.budget_tokens if max_tokens is None else _tokens(max_tokens, "max_tokens")

    def _frame(self, head: str) -> int:
        """Return the tokens of an answer without its body."""
        return self._count(frame_of(head))


def _is_twice(label: str, place: Place, opened: Opened) -> bool:
    """Return whether the memory with a label is shown, and another one whose id the label is."""
    scope, id_ = place
    shown = [(of, memory.id) for of, memory in opened.shown]
    labelled = [(of, each) for of, each in shown if each == id_ and scope in ("", of)]
    return bool(labelled) and any(each == label for _, each in {*shown} - {*labelled})


def _left_s(until: float) -> float:
    """Return the time that is left; seconds, > 0."""
    left_s = until - asyncio.get_running_loop().time()
    if left_s <= 0:
        raise DeadlineError("counting the memories of the scope took all the time: give more time")
    return left_s


def _number(size: int) -> str:
    if size > MOST_COUNTED:
        return f"more than {MOST_COUNTED:,} memories"
    return number_of(size, "memory", "memories")


def _tokens(value: int, name: str) -> int:
    return check_whole(value, name, low=MIN_TOKENS, high=MAX_TOKENS)


def listed_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Return ids in the order in which they were given, each once."""
    given = ids if isinstance(ids, str) else tuple(ids)
    known = check_ids(given, "ids")
    if not 1 <= len(known) <= MAX_OPENED:
        raise InvalidInputError(f"ids must be 1 to {MAX_OPENED} ids", field="ids")
    return tuple(dict.fromkeys(given))
