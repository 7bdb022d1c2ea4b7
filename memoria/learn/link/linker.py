"""Link memories of one scope that belong together.

In: ids, or a whole scope. Out: a `LinkReport`.
Writes ``similar`` edges, the time at which each memory was linked and learned, and the scope's
clock. Queries: ``link.*``, ``graph.page``, ``graph.advance_clock``; most of them in `LinkCall`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import UTC, datetime

from memoria._support.checks import check_ids, check_number, check_scope, check_whole
from memoria._support.progress import ProgressCallback, silent
from memoria._support.wording import kind_of
from memoria.errors import ConfigError
from memoria.graph.pages import pages
from memoria.graph.server_facts import require_ready
from memoria.graph.vocabulary import ORIGIN_SIMILARITY, UNIQUE_INDEX
from memoria.learn.link.call import LinkCall
from memoria.learn.link.choose import PRUNE_BELOW
from memoria.learn.link.config import CompositeLinkConfig, LinkConfig
from memoria.learn.link.cosines import UNKNOWN, Embeds, cosines_of, measured_config
from memoria.store import StoreOrDriver, with_certainty, writable_store_of
from memoria.store.queries import load
from memoria.types import Count, LinkReport


class Linker:
    """Links memories of one scope, by their vectors and further signals.

    Give a linker to a `GraphWriter`, which then links each batch that it writes; or call `link`.
    Candidates come from the vector index. A pair of memories has one edge, whichever of the two
    came first; its relation is ``similar``, its origin ``similarity``, and it has the tags that
    both memories have.

    Parameters
    ----------
    store
        A `Store`, such as that of a retriever, or an open driver of your own.
    config
        How to link: a `CompositeLinkConfig` (the default) or a `SimilarityLinkConfig`.
    embedder
        That whose vectors the database holds. It is needed once, and only if it is not one of
        memoria's own models, to measure how near unrelated texts are to it.
    batch_size
        How many memories are linked in one transaction at most; 1 to 10,000.
    clock
        Returns the present as an aware datetime, for the scope's clock and for new edges.
    database
        Name of the database, for a driver of your own; None for ``neo4j``.
    """

    def __init__(
        self,
        store: StoreOrDriver,
        *,
        scope: str,
        config: LinkConfig | None = None,
        embedder: Embeds | None = None,
        batch_size: int = 256,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        database: str | None = None,
    ) -> None:
        check_whole(batch_size, "batch_size", low=1, high=10_000, error=ConfigError)
        self.scope = check_scope(scope)
        self.config = CompositeLinkConfig() if config is None else config
        if not isinstance(self.config, LinkConfig):
            raise ConfigError(
                "config must be a CompositeLinkConfig or a SimilarityLinkConfig, "
                f"got {kind_of(config)}",
                field="config",
            )
        self._embedder = embedder
        self._batch_size = batch_size
        self._store = writable_store_of(store, database)
        self._clock = clock

    @with_certainty
    async def link(
        self,
        ids: Iterable[str] | None = None,
        *,
        only_new: bool = False,
        progress: ProgressCallback | None = None,
    ) -> LinkReport:
        """Link memories with those near them.

        May be repeated. The composite linker then changes nothing, unless new memories were
        written or the index, which is approximate, finds other neighbours. The similarity linker
        strengthens each edge that it finds again, once per call. No edge is ever weakened or
        deleted. Each batch is one transaction, which may be sent again without harm.

        Parameters
        ----------
        ids
            Memories to link; None for all memories of the scope.
        only_new
            Whether to pass over memories that were linked after their text last changed.
        progress
            Called with ``"links"``, the number of memories done so far, and None.

        Returns
        -------
        LinkReport
            Empty if an embedder that had to be measured failed: nothing is linked then.

        Raises
        ------
        InvalidInputError
            ``ids`` is not a list of identifiers.
        IndexNotReadyError
            The schema was not applied.
        """
        facts = await require_ready(self._store, UNIQUE_INDEX, vectors=True)
        wanted = None if ids is None else check_ids(ids)
        report = LinkReport()
        config = await self._measured(facts.embedder)
        if config is None:
            return report
        call = LinkCall(self._store, self.scope, config, facts, wanted)
        done = 0
        async for page in self._pages(wanted):
            report = report.plus(await call.link_page(page, self._clock(), only_new=only_new))
            done += len(page)
            (progress or silent)("links", done, None)
        return report

    async def _measured(self, recorded: str | None) -> LinkConfig | None:
        """Return the settings for the embedder of the stored vectors; None if it failed."""
        config = self.config
        if config.unrelated_cosine is not None and config.min_cosine is not None:
            return measured_config(config, UNKNOWN)
        cosines = await cosines_of(self._store, recorded, self._embedder)
        return None if cosines is None else measured_config(config, cosines)

    @with_certainty
    async def prune(self, *, below: float = PRUNE_BELOW) -> Count:
        """Delete edges that linking made and whose weight is lower than ``below`` (0 to 1).

        Returns
        -------
        Count
            How many edges were deleted; an int.
        """
        check_number(below, "below", low=0, high=1)
        deleted = 0
        async for page in self._pages(None):
            parameters = {
                "below": below,
                "ids": page,
                "origin": ORIGIN_SIMILARITY,
                "scope": self.scope,
            }
            deleted += (await self._store.run(load("link.prune"), parameters))[0]["deleted"]
        return Count(deleted)

    async def _pages(self, ids: Sequence[str] | None) -> AsyncIterator[list[str]]:
        """Yield the given ids page by page, or all ids of the scope."""
        if ids is not None:
            for start in range(0, len(ids), self._batch_size):
                yield list(ids[start : start + self._batch_size])
            return
        async for page in pages(self._store, scope=self.scope, size=self._batch_size):
            yield page
