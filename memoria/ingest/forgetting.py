"""Delete memories, and leave in place what is more than a memory.

In: ids, a filter, or a whole scope. Out: a `ForgetReport`, a `ScopeReceipt`. Writes, in batches
that may be repeated without harm.
Queries: ``ingest.forget*``, ``ingest.left_over``, ``ingest.delete_edges``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memoria._support import telemetry
from memoria._support.progress import ProgressCallback, silent
from memoria.graph.graph_reader import matching_ids
from memoria.graph.server_facts import server_facts
from memoria.graph.vocabulary import DIRECTIONAL, clock_key, pending_key, scope_key
from memoria.ingest.rows import batches
from memoria.store import Store, Transaction
from memoria.store.queries import load
from memoria.types import MEMORY_PROPERTIES, Count, ForgetReport, MemoryFilter, ScopeReceipt

MAX_EDGES_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Deletes memories of one scope; see `GraphWriter.forget` and `GraphWriter.forget_scope`.

    Attributes
    ----------
    kinds
        Labels that a node loses if it stays.
    batch_size
        Most memories in one transaction. The edges of a memory with more than 20,000 of them are
        deleted in transactions of their own.
    delete_foreign
        Also delete nodes with data of other programs.
    """

    store: Store
    scope: str
    kinds: Sequence[str]
    batch_size: int
    delete_foreign: bool

    async def memories(self, ids: Sequence[str]) -> ForgetReport:
        """Delete memories with all their edges; unknown ids are passed over."""
        await server_facts(self.store)  # refuses a schema that this memoria does not know
        report = ForgetReport()
        for batch in batches(ids, self.batch_size):
            report = report.plus(await self._nodes({"ids": batch, "elements": []}))
        return report

    async def within(
        self, transaction: Transaction, ids: Sequence[str], *, stay: Iterable[str]
    ) -> ForgetReport:
        """Delete memories in a transaction of the caller's.

        Memories with more than 20,000 edges in a query stay: the caller's are small. So do the
        connectors whose ids are in ``stay``, even if they join no memory until the caller writes.
        """
        report, kept = ForgetReport(), sorted(stay)
        for batch in batches(ids, self.batch_size):
            parameters = self._parameters({"ids": batch, "elements": []}, stay=kept)
            row = (await transaction.run(load("ingest.forget"), parameters))[0]
            report = report.plus(ForgetReport(deleted=row["deleted"], connectors=row["freed"]))
        return report

    async def matching(self, where: MemoryFilter) -> ForgetReport:
        """Delete the memories that fit, with all their edges."""
        await server_facts(self.store)
        report = ForgetReport()
        pages = matching_ids(self.store, scope=self.scope, where=where, size=self.batch_size)
        async for ids in pages:
            report = report.plus(await self._nodes({"ids": ids, "elements": []}))
        return report

    async def everything(
        self, clock: Callable[[], datetime], progress: ProgressCallback = silent
    ) -> ScopeReceipt:
        """Delete all that names the scope: memories and edges, the log of learning, the clock."""
        await server_facts(self.store)
        counts: Counter[str] = Counter()
        forgotten = ForgetReport()
        while some := await self._some_memories():
            counts.update(await self._edges(some))
            forgotten = forgotten.plus(await self._nodes(some))
            progress("memories", forgotten.deleted + len(forgotten.kept), None)
        counts["memories"] += forgotten.deleted + forgotten.connectors
        limit = {"limit": MAX_EDGES_AT_ONCE, "scope": self.scope}
        while deleted := (await self._scan("ingest.forget_changes", limit))["deleted"]:
            counts["changes"] += deleted
        limit["key"] = clock_key(self.scope)
        while any((notes := await self._scan("ingest.forget_notes", limit)).values()):
            counts.update(notes)
        return ScopeReceipt(
            scope=self.scope,
            finished_at=clock(),
            kept=forgotten.kept,
            memories=counts["memories"],
            relations=counts["relations"],
            suppressions=counts["suppressions"],
            pairs=counts["pairs"],
            events=counts["events"],
            changes=counts["changes"],
            clocks=counts["clocks"],
        )

    async def _some_memories(self) -> dict[str, Sequence[str]] | None:
        """Return memories to be deleted next: first those that an index finds, then the rest."""
        page = {"after": "", "limit": self.batch_size, "scope": self.scope}
        ids = (await self.store.run(load("graph.page"), page))[0]["ids"]
        if ids:
            return {"ids": ids, "elements": []}
        limit = {"limit": self.batch_size, "scope": self.scope}
        elements = (await self._scan("ingest.left_over", limit))["elements"]
        return {"ids": [], "elements": elements} if elements else None

    async def _nodes(self, which: Mapping[str, Sequence[str]]) -> ForgetReport:
        """Delete the nodes of memories, and the edges that they still have."""
        parameters = self._parameters(which)
        freed = 0
        with telemetry.memory_span("delete_memory", store=scope_key(self.scope)) as span:
            while True:
                row = (await self.store.run(load("ingest.forget"), parameters))[0]
                if row["edges"] <= MAX_EDGES_AT_ONCE:
                    span.set_attributes({telemetry.RECORD_COUNT: row["deleted"]})
                    return ForgetReport(
                        deleted=row["deleted"],
                        kept=tuple(sorted(row["kept"])),
                        connectors=freed + row["freed"],
                    )
                gone = (await self.store.run(load("ingest.forget_edges"), self._limits(which)))[0]
                freed += gone["freed"]

    async def _edges(self, which: Mapping[str, Sequence[str]]) -> Counter[str]:
        """Delete the edges of memories; return how many there were of each sort.

        Connectors that they leave without a memory are deleted, and count as ``memories``.
        """
        counts: Counter[str] = Counter()
        deleted = MAX_EDGES_AT_ONCE
        while deleted == MAX_EDGES_AT_ONCE:
            row = (await self.store.run(load("ingest.forget_edges"), self._limits(which)))[0]
            deleted = row["deleted"]
            counts.update({name: row[name] for name in ("relations", "suppressions", "pairs")})
            counts["memories"] += row["freed"]
        return counts

    def _parameters(
        self, which: Mapping[str, Sequence[str]], *, stay: Sequence[str] = ()
    ) -> dict[str, Any]:
        return {
            **self._limits(which),
            "cleared": {name: None for name in MEMORY_PROPERTIES if name != "id"},
            "kinds": list(self.kinds),
            "known": list(MEMORY_PROPERTIES),
            "pending": pending_key(self.scope),
            "stay": list(stay),
        }

    def _limits(self, which: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        return {
            **which,
            "delete_foreign": self.delete_foreign,
            "directional": list(DIRECTIONAL),
            "max_edges": MAX_EDGES_AT_ONCE,
            "scope": self.scope,
        }

    async def _scan(self, query: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        # No index helps here, so the query reads the notes or the memories of all scopes.
        return (await self.store.patient().run(load(query), parameters))[0].data()


async def delete_edges(
    store: Store, source: str, target: str, relation: str | None, *, scope: str
) -> Count:
    """Delete the edges from one memory to another; see `GraphWriter.delete_edge`."""
    await server_facts(store)
    parameters = {
        "ids": sorted({source, target}),
        "relation": relation,
        "scope": scope,
        "source": source,
        "target": target,
    }
    return Count((await store.run(load("ingest.delete_edges"), parameters))[0]["deleted"])
