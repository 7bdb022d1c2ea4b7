"""What one recall reads: the memories it found, and with them what ranking asks of them.

In: ids. Out: `MemoryNode`s and `Facts`. Reads only.
Queries: ``graph.hydrate``, ``ranking.candidates``.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from memoria.errors import MemoriaError
from memoria.graph.memories import Memories
from memoria.ranking import NOTHING_KNOWN, Facts, FactsRequest, ask_facts
from memoria.store import Store

log = logging.getLogger(__name__)


class Found(Memories):
    """Memories that a recall found, and what ranking asks of them.

    Parameters
    ----------
    store
        Where they are.
    request
        What ranking asks of them.
    hits
        Ids of the search's hits that are no seeds.
    at_once
        Whether all paths are read together: then with the hits and the facts, in one query.

    Attributes
    ----------
    facts
        What ranking asks of them; nothing before `complete`.
    """

    def __init__(
        self, store: Store, request: FactsRequest, *, hits: Sequence[str], at_once: bool
    ) -> None:
        super().__init__(store, scope=request.scope, until=request.until)
        self.facts: Facts = NOTHING_KNOWN
        self._request = request
        self._hits = hits
        self._at_once = at_once
        self._asked: frozenset[str] = frozenset()
        self._refused: MemoriaError | None = None

    async def read(self, ids: Collection[str]) -> None:
        """Read those that are not known yet; of them, those that exist."""
        if self._at_once:
            self._at_once = False  # should the explorations go on one by one: once, all the same
            await self._ask({*ids, *self._ids, *self._hits})
        await super().read(ids)

    async def complete(self, ids: Collection[str], notes: list[str], *, facts: bool) -> None:
        """Read what is still missing of these ids and of the hits; what can't be is noted."""
        wanted = {*ids, *self._hits}
        if facts and self._refused is None and not wanted <= self._asked:
            await self._ask(wanted)
        if self._refused is not None:
            notes.append(f"ranked without cosines and edges ({self._refused})")
        try:
            await super().read(self._hits)
        except MemoriaError as exc:
            notes.append(f"the search's other hits could not be read ({exc})")

    async def _ask(self, ids: Collection[str]) -> None:
        """Ask for facts; a question that failed, retries included, is not asked again."""
        try:
            self.facts, memories = await ask_facts(
                self.store, self._request, sorted(ids), known=[*self._ids]
            )
        except MemoriaError as exc:
            log.warning("%s: texts alone are read", type(exc).__name__)
            self._refused = exc
            self.facts = NOTHING_KNOWN
            return
        self._keep(memories)
        self._asked = frozenset(ids)
