"""Export a scope: its memories by id, then its edges by source, target and relation.

In: a scope. Out: lines of JSON. Reads only, one bounded page at a time. Queries: ``export.*``.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from memoria._support.checks import check_scope
from memoria._support.wording import number_of
from memoria.graph.server_facts import current_facts
from memoria.graph.vocabulary import clock_key
from memoria.ingest.export.lines import (
    Ends,
    Skip,
    Skipped,
    history_line,
    memory_line,
    read_clock,
    read_history,
    read_memory,
    read_relation,
    relation_line,
    stronger,
)
from memoria.ingest.jsonl import EDGE_FIELDS
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import EDGE_HISTORY, MEMORY_PROPERTIES, HistoryItem, Memory, Relation, ScopeClock

log = logging.getLogger(__name__)

# Limits of a page: memories (each may have a vector of 4096 numbers), and characters of text.
MEMORY_PAGE = 500
PAGE_CHARS = 2_000_000
SOURCE_PAGE = 5_000
EDGE_PAGE = 10_000
# Properties that a line has a place for, or that ingest makes by itself.
_OF_MEMORIES = MEMORY_PROPERTIES
_OF_EDGES = (*EDGE_FIELDS, *EDGE_HISTORY)
# Relationships, in addition to RELATES, that have lines of their own.
_HISTORY = ("SUPPRESSES", "COACTIVATED")


async def export_lines(
    store: Store, *, scope: str, embeddings: bool = True, on_skipped: Skip | None = None
) -> AsyncIterator[str]:
    """Read a scope in the form that ``memoria ingest`` reads, a line at a time.

    Memories and edges come first, then the history of the scope: suppressions, pairs that were
    active together, and the clock. If the lines are ingested elsewhere and exported again, the
    lines are the same to the byte, except for edges without ``created_at``, which get the time of
    the ingest. The log of learning is not exported: after the ingest,
    `Learner.undo` can't take back anything from before. Of two generations of vectors
    (see `memoria.reembed`) the live one is exported.

    Parameters
    ----------
    embeddings
        Whether to export the vectors of memories.
    on_skipped
        Called for everything that is left out: properties and relationships that are not
        memoria's, and what ingest would refuse. None: one warning in the log says how many things
        were left out.

    Yields
    ------
    str
        A line without its line break. Strings are in the order of their code points.

    Raises
    ------
    ScopeError
        No scope was given.

    Notes
    -----
    Others may write during an export. It contains all memories that existed at its start, unless
    they were forgotten before they were read, and perhaps some that were written later. It contains
    only edges between exported memories, so it can be ingested as it is. A missing weight is
    written as 0.01 and a weight above 1 as 1, because they count as such. Keeps one page in memory,
    and the ids of all memories.
    """
    export = _Export(store, check_scope(scope), embeddings, on_skipped)
    export.generation = (await current_facts(store)).generation
    async for memory in export.memories():
        yield memory_line(memory)
    async for relation in export.relations():
        yield relation_line(relation)
    async for item in export.history():
        yield history_line(item)
    if (clock := await export.clock()) is not None:
        yield history_line(clock)
    if on_skipped is None and export.skipped:
        left_out = number_of(export.skipped, "thing was", "things were")
        log.warning("%s left out: give on_skipped to see what", left_out)


class _Export:
    """One call of `export_lines`."""

    def __init__(self, store: Store, scope: str, embeddings: bool, on_skipped: Skip | None) -> None:
        self.skipped = 0
        self.generation = 1  # of the vectors
        self._store = store
        self._scope = scope
        self._embeddings = embeddings
        self._on_skipped = on_skipped
        self._ends = Ends()

    async def memories(self) -> AsyncIterator[Memory]:
        """Read the memories that ingest would accept."""
        unreadable = await self._ask("export.unreadable", {})
        if unreadable:
            reason = "it is not a text, or it is empty"
            self._skip(Skipped(what="memory", name="", field="id", reason=reason, count=unreadable))
        page = {
            "after": "",
            "embeddings": self._embeddings,
            "known": _OF_MEMORIES,
            "limit": MEMORY_PAGE,
            "max_chars": PAGE_CHARS,
        }
        while rows := await self._ask("export.memories", page):
            page["after"] = rows[-1]["id"]
            for row in rows:
                memory = read_memory(row, self._skip)
                if memory is None:
                    self._ends.left_out.add(row["id"])
                else:
                    self._ends.exported.add(memory.id)
                    yield memory

    async def relations(self) -> AsyncIterator[Relation]:
        """Read the edges that ingest would accept; of edges that are equal to it, the strongest."""
        last: Relation | None = None
        async for row in self._edges():
            relation = read_relation(row, self._ends, self._skip)
            if relation is None:
                continue
            if last is not None and _key(last) == _key(relation):
                relation = stronger(last, relation, self._skip)
            elif last is not None:
                yield last
            last = relation
        if last is not None:
            yield last

    async def history(self) -> AsyncIterator[HistoryItem]:
        """Read the suppressions and pairs that ingest would take."""
        async for ids in self._sources(history=True):
            async for row in self._joined("export.history", {"ids": ids}):
                if (item := read_history(row, self._ends, self._skip)) is not None:
                    yield item

    async def clock(self) -> ScopeClock | None:
        """Read the clock of the scope."""
        row = await self._ask("export.clock", {"key": clock_key(self._scope)})
        return None if row is None else read_clock(row, self._scope, self._skip)

    async def _edges(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the rows of all edges in order; a memory with many edges takes several pages."""
        async for ids in self._sources():
            async for row in self._joined("export.edges", {"ids": ids, "known": _OF_EDGES}):
                yield row

    async def _joined(
        self, query: str, parameters: Mapping[str, Any]
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield the rows of the relationships that leave some memories, page by page."""
        page = {**parameters, "after": [], "id_key": "id", "limit": EDGE_PAGE}
        while rows := await self._ask(query, page):
            for row in rows:
                yield row
            if len(rows) < EDGE_PAGE:
                break
            page["after"] = rows[-1]["key"]

    async def _sources(self, *, history: bool = False) -> AsyncIterator[list[str]]:
        """Yield ids of memories with outgoing edges, as many at a time as fit into a page.

        With ``history`` these are the memories that a suppression or a pair leaves. Without, other
        relationships that leave them are reported, too.
        """
        batch: list[str] = []
        held = 0
        page = {"after": "", "limit": SOURCE_PAGE}
        while rows := await self._ask("export.sources", page):
            page["after"] = rows[-1][0]
            for id_, edges, others in rows:
                if not history:
                    self._skip_foreign(id_, others)
                number = edges
                if history:
                    number = sum(count for kind, count in others if kind in _HISTORY)
                if batch and held + number > EDGE_PAGE:
                    yield batch
                    batch, held = [], 0
                if number:
                    batch.append(id_)
                    held += number
        if batch:
            yield batch

    def _skip_foreign(self, id_: str, others: Iterable[tuple[str, int]]) -> None:
        """Tell of the relationships that leave a memory and are not memoria's."""
        reason = "a relationship that is not one of memoria's"
        for kind, count in sorted(others):
            if kind not in _HISTORY:
                self._skip(Skipped(what="edge", name=id_, field=kind, reason=reason, count=count))

    async def _ask(self, query: str, parameters: Mapping[str, Any]) -> Any:
        """Return the one value of a query of this scope."""
        text = load(query).at(self.generation)
        records = await self._store.run(text, {**parameters, "scope": self._scope})
        return records[0][0]

    def _skip(self, problem: Skipped) -> None:
        self.skipped += problem.count
        if self._on_skipped is not None:
            self._on_skipped(problem)


def _key(relation: Relation) -> tuple[str, str, str]:
    return relation.source, relation.target, relation.relation
