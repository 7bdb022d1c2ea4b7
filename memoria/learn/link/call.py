"""One call of `Linker.link`: find the neighbours of memories, choose edges, write them.

In: pages of ids. Out: a `LinkReport` for each page. Each page takes a few reading queries and one
that writes. Queries: ``link.state``, ``link.facts``, ``link.write``, ``graph.advance_clock``, and
those of `find_nearest`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from memoria._support import foreign
from memoria.formulas.edge_score import above_unrelated
from memoria.graph.clock import advance_clock
from memoria.graph.vocabulary import ORIGIN_SIMILARITY, SIMILAR, clock_key
from memoria.learn.link.choose import Link, MemoryFacts, choose_links, facts_of
from memoria.learn.link.config import LinkConfig, SimilarityLinkConfig
from memoria.learn.link.nearest import NearestRequest, Neighbours, find_nearest
from memoria.store import Store
from memoria.store.facts import ServerFacts
from memoria.store.queries import load
from memoria.types import LinkReport

FACTS_AT_ONCE = 10_000


class LinkCall:
    """One call of `Linker.link`: all its pages have the same hour, and link each pair once."""

    def __init__(
        self,
        store: Store,
        scope: str,
        config: LinkConfig,
        server: ServerFacts,
        wanted: Iterable[str] | None,
    ) -> None:
        # The settings are those of `measured_config`.
        self._store = store
        self._scope = scope
        self._config = config
        self._increment = config.increment if isinstance(config, SimilarityLinkConfig) else None
        self._server = server
        self._wanted = None if wanted is None else frozenset(wanted)
        self._hours: float | None = None
        self._done: dict[tuple[str, str], float] = {}

    async def link_page(self, page: list[str], now: datetime, *, only_new: bool) -> LinkReport:
        """Link some memories in one transaction."""
        parameters = {"dimensions": self._server.dimensions, "ids": page, "scope": self._scope}
        query = load("link.state").at(self._server.generation)
        state = (await self._store.run(query, parameters))[0]["rows"]
        connectors = sum(usable is None for *_, usable in state)  # never linked
        linked = {row[0]: row[1] for row in state}
        ever = {row[0] for row in state if row[2]}
        passed_over = {id_ for id_ in linked if only_new and linked[id_]}
        todo = [id_ for id_, _, _, usable in state if usable and id_ not in passed_over]
        edges = created = 0
        if todo:
            if self._hours is None:  # only now, so that a scope without memories gets no clock
                self._hours = await advance_clock(self._store, scope=self._scope, now=now)
            neighbours = await self._neighbours(todo)
            others = {other for hits in neighbours.values() for other, _ in hits}
            facts = await self._facts(others.union(todo))
            links = self._once(choose_links(neighbours, facts, self._config))
            rows = self._rows(links, ever)
            edges, created = await self._write(rows, {id_: linked[id_] for id_ in todo}, now)
        return LinkReport(
            memories=len(todo),
            already_linked=len(passed_over),
            without_embedding=len(linked) - connectors - len(passed_over) - len(todo),
            missing=len(page) - len(linked),
            edges=edges,
            edges_created=created,
        )

    async def _neighbours(self, ids: Sequence[str]) -> Neighbours:
        """Return the nearest memories of each, without those that are too far for an edge."""
        request = NearestRequest(
            scope=self._scope,
            candidates=self._config.candidates,
            dialect=self._server.vector_dialect,
            generation=self._server.generation,
        )
        unrelated = self._config.unrelated_cosine or 0.0
        found = {
            id_: [(other, above_unrelated(cosine, unrelated)) for other, cosine in hits]
            for id_, hits in (await find_nearest(self._store, ids, request)).items()
        }
        if isinstance(self._config, SimilarityLinkConfig):  # shared topics may make up for it
            return found
        least = self._config.least_cosine
        return {id_: [hit for hit in hits if hit[1] >= least] for id_, hits in found.items()}

    async def _facts(self, ids: Iterable[str]) -> dict[str, MemoryFacts]:
        ordered = sorted(ids)
        facts: dict[str, MemoryFacts] = {}
        for start in range(0, len(ordered), FACTS_AT_ONCE):
            chunk = ordered[start : start + FACTS_AT_ONCE]
            parameters = {"ids": chunk, "scope": self._scope}
            for row in (await self._store.run(load("link.facts"), parameters))[0]["rows"]:
                facts[row[0]] = facts_of(row, self._hours_of(row))
        return facts

    def _hours_of(self, row: Sequence[Any]) -> float:
        """Return when a memory was learned: now, if this call links it for the first time."""
        id_, *_, stored, linked = row
        if not linked and (self._wanted is None or id_ in self._wanted):
            return self._hours or 0.0
        return foreign.number(stored) or 0.0

    def _once(self, links: list[Link]) -> list[Link]:
        """Leave out pairs that an earlier page has linked from the other end with the same weight.

        If this end finds the pair with a higher weight, only the weight is raised: without finders
        the edge is not strengthened a second time.
        """
        new = []
        for link in links:
            pair = (link.source, link.target)
            before = self._done.get(pair)
            if before is None or link.weight > before:
                self._done[pair] = link.weight
                new.append(link if before is None else replace(link, finders=frozenset()))
        return new

    def _rows(self, links: Iterable[Link], ever: set[str]) -> list[list[Any]]:
        """Make the rows of ``link.write``; only a memory that was linked before strengthens edges.

        If a memory that is linked for the first time finds an edge, that edge was made from its
        other end after the memory was written, for instance by the same ingest before it was
        interrupted.
        """
        strengthens = self._increment is not None
        return [
            [
                link.source,
                link.target,
                link.weight,
                list(link.tags),
                strengthens and not ever.isdisjoint(link.finders),
            ]
            for link in links
        ]

    async def _write(
        self, rows: Sequence[list[Any]], linked: dict[str, bool], now: datetime
    ) -> tuple[int, int]:
        """Write edges, and that memories are linked; return how many edges, and how many new."""
        touched = {*linked, *(end for row in rows for end in row[:2])}
        parameters = {
            "event": uuid4().hex,
            "ids": sorted(touched),
            "increment": self._increment or 0.0,
            "key": clock_key(self._scope),
            "linked": [[id_, None if linked[id_] else self._hours] for id_ in sorted(linked)],
            "now": now.astimezone(UTC),
            "origin": ORIGIN_SIMILARITY,
            "relation": SIMILAR,
            "rows": rows,
            "scope": self._scope,
        }
        row = (await self._store.run(load("link.write"), parameters))[0]
        return row["edges"], row["created"]
