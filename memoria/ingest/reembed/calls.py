"""Change the embedder of a database while it is in use.

In: a store, an embedder. Out: a `ReembedReport`. Writes.
Queries: ``schema*`` for the new index; the others are those of `record` and `passes`.
"""

from __future__ import annotations

import asyncio

from memoria._support.checks import check_whole
from memoria._support.progress import ProgressCallback, silent
from memoria.embed import Embedder, checked_embedder
from memoria.errors import ConfigError, IndexNotReadyError, InvalidInputError
from memoria.graph.schema import create_index, created_name, schema_statements, wait_online
from memoria.graph.server_facts import check_schema, probe, was_set_up
from memoria.ingest.reembed.ending import ReembedReport, drop_other, is_rolled_back
from memoria.ingest.reembed.passes import Filled, Filling, await_transactions
from memoria.ingest.reembed.record import advance, begin, swap
from memoria.store import ServerFacts, Store, StoreOrDriver, writable_store_of
from memoria.store.facts import Reembedding
from memoria.store.queries import vector_index

# Passes over all memories before the swap, while others write; what comes later is swept after it.
_PASSES = 5
# Limit of the time in which the new index is populated; seconds.
_POPULATING_S = 7 * 86_400.0


async def reembed(
    store: StoreOrDriver,
    *,
    embedder: Embedder,
    batch_size: int = 256,
    progress: ProgressCallback = silent,
    database: str | None = None,
) -> ReembedReport:
    """Make new vectors for all scopes with another embedder, then use them.

    Until all are made, recalls and writers go on with the old embedder. From then on, writers with
    the old embedder get a `DimensionError`; retrievers with the old embedder that are open go on
    with the old vectors, which `finish_reembedding` deletes, and new ones get a `DimensionError`.
    `roll_back_reembedding` goes back at any time before.

    Call it again after an interruption: it continues where it stopped. Several processes may call
    it at once, with the same embedder. Memories that have no vector get none; see
    `GraphWriter.backfill_embeddings`.

    Parameters
    ----------
    embedder
        The new embedder, of any dimensions; its name must not be that of the old one.
    batch_size
        Memories that are read, embedded and written at once; 1 to 10,000.
    progress
        Called as ``progress("memories", done, total)`` after each batch, in every pass.
    database
        Name of the database, on a driver of your own; None for ``neo4j``.

    Raises
    ------
    InvalidInputError
        The database is being changed to another embedder, or another call has rolled this one
        back. Or ``embedder`` is not an embedder.
    IndexNotReadyError
        The database was never set up, or the new index failed.
    AuthError
        This user may not create the new index.
    """
    check_whole(batch_size, "batch_size", low=1, high=10_000, error=ConfigError)
    model = checked_embedder(embedder)
    await asyncio.to_thread(getattr, model, "dimensions")  # some models are loaded for it
    call = _Call(writable_store_of(store, database).patient(), model, batch_size, progress)
    return await call.run()


class _Call:
    """One call of `reembed`: it looks at the state, does what is due, and looks again."""

    def __init__(
        self, store: Store, embedder: Embedder, batch_size: int, progress: ProgressCallback
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._batch_size = batch_size
        self._progress = progress
        self._target: int | None = None  # number of the generation that this call makes
        self._embedded = self._left = 0

    async def run(self) -> ReembedReport:
        """Move on from state to state until the new vectors are complete and live."""
        while True:
            facts = await probe(self._store)
            other, live = facts.reembedding, facts.embedder == self._embedder.name
            self._check(facts)
            self._check_size(facts)
            if live and (other is None or other.state == "kept"):
                return self._report(facts)
            if other is None:
                await self._begin(facts)
            elif other.state == "filling":
                await self._fill(facts, other)
            elif other.state == "sweeping":
                await self._sweep(facts, other)
            else:  # an earlier change was interrupted when all was decided
                await drop_other(self._store, facts, other, self._progress)

    async def _begin(self, facts: ServerFacts) -> None:
        begun = await begin(self._store, facts.generation, self._embedder)
        if not begun and await probe(self._store) == facts:  # nor has another call begun
            raise IndexNotReadyError("the set-up is not complete: run memoria init")

    def _check(self, facts: ServerFacts) -> None:
        """Raise unless this call's embedder is live, is becoming live, or may begin."""
        if not was_set_up(facts):
            raise IndexNotReadyError("the database is not set up: run memoria init")
        check_schema(facts)
        other = facts.reembedding
        numbers = [facts.generation]
        if other is not None and not is_rolled_back(facts, other):
            numbers.append(other.generation)
        if self._target is not None and self._target not in numbers:
            raise InvalidInputError("another call has rolled this reembedding back")
        if other is None or other.state == "dropping":
            return
        filling = other.state == "filling"
        new = other.embedder if filling else facts.embedder
        if new != self._embedder.name:
            raise InvalidInputError(
                f"memoria reembed is changing this database to {new!r}: complete and finish that, "
                f"or roll it back, before you change it to {self._embedder.name!r}",
                field="embedder",
            )
        self._target = other.generation if filling else facts.generation

    def _check_size(self, facts: ServerFacts) -> None:
        """Raise if this embedder has the name of another one, whose vectors have another size."""
        sizes = {facts.embedder: facts.dimensions}
        if facts.reembedding is not None:
            sizes[facts.reembedding.embedder] = facts.reembedding.dimensions
        name, size = self._embedder.name, self._embedder.dimensions
        if sizes.get(name) not in (None, size):
            raise InvalidInputError(
                f"the vectors of {name!r} in this database have {sizes[name]} dimensions, those of "
                f"the embedder {size}: give the embedder another name",
                field="embedder",
            )

    async def _fill(self, facts: ServerFacts, other: Reembedding) -> None:
        """Make the new vectors and their index, then make them the live ones."""
        for _ in range(_PASSES):
            filled = await self._pass(facts.generation, other.generation)
            if not filled.is_current:
                return
            if filled.wanted <= self._batch_size:
                break
        await self._make_index(facts, other.generation)
        # What was written while the index was populated.
        if (await self._pass(facts.generation, other.generation)).is_current:
            await swap(self._store, other.generation, ["filling"], "sweeping")

    async def _sweep(self, facts: ServerFacts, other: Reembedding) -> None:
        """Make the vectors of what writers of the old embedder wrote until the swap."""
        await await_transactions(self._store)
        while (filled := await self._pass(other.generation, facts.generation)).stored:
            pass
        if filled.is_current:
            await advance(self._store, other.generation, ["sweeping"], "kept")

    async def _pass(self, old: int, new: int) -> Filled:
        filled = await Filling(
            store=self._store,
            embedder=self._embedder,
            old=old,
            new=new,
            batch_size=self._batch_size,
            progress=self._progress,
        ).run()
        self._embedded += filled.stored
        self._left = filled.left  # of the last pass
        return filled

    async def _make_index(self, facts: ServerFacts, generation: int) -> None:
        """Create the index after most vectors are stored, which is faster; wait until it is up."""
        name = vector_index(generation)
        until = asyncio.get_running_loop().time() + _POPULATING_S
        async with self._store.session("write", until=until) as session:
            for statement in schema_statements(facts, generation):
                if created_name(statement) == name:
                    await create_index(session, statement, self._embedder.dimensions)
            await wait_online(session, [name], until)

    def _report(self, facts: ServerFacts) -> ReembedReport:
        self._store.facts.put(facts)
        other = facts.reembedding
        return ReembedReport(
            state="finished" if other is None else "switched",
            embedder=facts.embedder,
            dimensions=facts.dimensions,
            replaced=None if other is None else other.embedder,
            embedded=self._embedded,
            left=self._left,
        )
