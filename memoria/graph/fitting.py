"""Facts about a server whose vectors fit an embedder.

In: a store, an embedder or None. Out: `ServerFacts`, or an error that names both sides. Reads only.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from functools import partial

from memoria._support.once import Once
from memoria.graph.server import NamedEmbedder, check_embedder, is_complete, server_facts
from memoria.store import ServerFacts, Store


class FittingFacts:
    """Facts about the databases of one driver, each checked once against the same embedder."""

    def __init__(self, embedder: NamedEmbedder | None) -> None:
        self._embedder = embedder
        # Database -> the facts that the embedder was checked against.
        self._checked = defaultdict[str, Once[ServerFacts]](Once)

    async def of(self, store: Store, *, until: float | None = None) -> ServerFacts:
        """Return facts about the server of a store, as `server_facts`.

        Raises
        ------
        DimensionError
            The embedder is not the one whose vectors the index holds.
        DeadlineError
            The server did not answer in time.
        """
        facts = await server_facts(store, until=until)
        if store.translation is not None:
            return facts  # whoever maps a graph checks its embedder
        check = partial(self._check, facts)
        kept = self._checked[store.database]
        checked = await kept.get(check, keep=is_complete, until=until)
        if checked is not facts:  # the store knows more by now, such as the embedder
            kept.put(await check())
        return facts

    async def _check(self, facts: ServerFacts) -> ServerFacts:
        # In a thread, because some models must be loaded before they know their dimensions.
        await asyncio.to_thread(check_embedder, facts, self._embedder)
        return facts
