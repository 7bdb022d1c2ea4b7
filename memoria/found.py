"""What one recall reads: the memories it found, and with them what ranking asks of them.

In: ids. Out: `MemoryNode`s and `Facts`. Reads only.
Queries: ``explore.hydrate``, ``relevance.candidates``.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from memoria.errors import MemoriaError
from memoria.hydrate import hydrate
from memoria.relevance import NOTHING_KNOWN, Facts, FactsRequest, ask_facts
from memoria.store import Store
from memoria.types import MemoryNode

log = logging.getLogger(__name__)


class Found:
    """Memories that a recall found, read once each.

    Parameters
    ----------
    store
        Where they are.
    request
        What ranking asks of them.
    hits
        Ids of the search's hits that are no seeds.

    Attributes
    ----------
    memories
        Id -> memory, of those read so far.
    facts
        What ranking asks of them; nothing before `complete`.
    """

    def __init__(self, store: Store, request: FactsRequest, *, hits: Sequence[str]) -> None:
        self.memories: dict[str, MemoryNode] = {}
        self.facts: Facts = NOTHING_KNOWN
        self._store = store
        self._request = request
        self._hits = hits
        self._asked: frozenset[str] = frozenset()
        self._refused: MemoriaError | None = None

    async def read(self, ids: Collection[str]) -> dict[str, MemoryNode]:
        """Read memories by id; those that exist."""
        missing = [id_ for id_ in ids if id_ not in self.memories]
        if missing:
            request = self._request
            self.memories |= await hydrate(
                self._store, missing, scope=request.scope, until=request.until
            )
        return {id_: self.memories[id_] for id_ in ids if id_ in self.memories}

    async def read_all(self, ids: Collection[str]) -> dict[str, MemoryNode]:
        """Read the memories of all paths at once: with the hits and the facts, in one query."""
        await self._ask({*ids, *self._hits})
        return await self.read(ids)

    async def complete(self, ids: Collection[str], notes: list[str], *, facts: bool) -> None:
        """Read what is still missing of these ids and of the hits; what can't be is noted."""
        wanted = {*ids, *self._hits}
        if facts and self._refused is None and not wanted <= self._asked:
            await self._ask(wanted)
        if self._refused is not None:
            notes.append(f"ranked without cosines and edges ({self._refused})")
        try:
            await self.read(self._hits)
        except MemoriaError as exc:
            notes.append(f"the search's other hits could not be read ({exc})")

    async def _ask(self, ids: Collection[str]) -> None:
        """Ask for facts; a question that failed, retries included, is not asked again."""
        try:
            self.facts, memories = await ask_facts(
                self._store, self._request, sorted(ids), known=self.memories
            )
        except MemoriaError as exc:
            log.warning("%s: texts alone are read", type(exc).__name__)
            self._refused = exc
            return
        self.memories |= memories
        self._asked = frozenset(ids)
