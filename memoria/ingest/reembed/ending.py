"""End a reembedding: delete the old vectors, or go back to them and delete the new ones.

In: a store. Out: a `ReembedReport`. Deletes vectors and their index; moves the record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memoria._support.progress import ProgressCallback, silent
from memoria.errors import InvalidInputError
from memoria.graph.server_facts import probe
from memoria.ingest.reembed.passes import await_transactions, remove
from memoria.ingest.reembed.record import advance, end, swap
from memoria.store import ServerFacts, Store, StoreOrDriver, writable_store_of
from memoria.store.facts import Reembedding


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembedReport:
    """What a call did, and how it left the database.

    Attributes
    ----------
    state
        ``switched``: recalls use the new vectors, and the old ones are kept until
        `finish_reembedding`. ``finished``: there is only one generation of vectors.
        ``rolled back``: the same, and it is the old one.
    embedder, dimensions
        Name of the embedder whose vectors are live, and size of its vectors; None if unknown.
    replaced
        Name of the other embedder; None if there is none, or its name was never recorded.
    embedded
        Vectors that this call stored.
    left
        Memories that have, or had, a vector of the other embedder and have none that is live.
    """

    state: Literal["switched", "finished", "rolled back"]
    embedder: str | None
    dimensions: int | None
    replaced: str | None = None
    embedded: int = 0
    left: int = 0


async def finish_reembedding(
    store: StoreOrDriver, *, progress: ProgressCallback = silent, database: str | None = None
) -> ReembedReport:
    """Delete the old vectors and their index, in batches; from then on nobody can go back to them.

    Retrievers that still use the old vectors get a `DimensionError`. Call it again after an
    interruption: it continues where it stopped. Without old vectors it does nothing.

    Raises
    ------
    InvalidInputError
        `reembed` is not done, or a roll-back is not.
    """
    store = writable_store_of(store, database).patient()
    other = (await probe(store)).reembedding
    if other is not None:
        await advance(store, other.generation, ["kept"], "dropping")
    facts = await probe(store)  # again: a roll-back may have come before
    other = facts.reembedding
    if other is None:
        return ReembedReport(state="finished", embedder=facts.embedder, dimensions=facts.dimensions)
    if is_rolled_back(facts, other):
        raise InvalidInputError(
            "a roll-back is under way: complete it with memoria reembed --rollback"
        )
    if other.state != "dropping":
        raise InvalidInputError(
            "memoria reembed is not done: run it again with its embedder, then finish"
        )
    return await drop_other(store, facts, other, progress)


async def roll_back_reembedding(
    store: StoreOrDriver, *, progress: ProgressCallback = silent, database: str | None = None
) -> ReembedReport:
    """Go back to the old embedder, at once, and delete what was made by the new one, in batches.

    Possible until `finish_reembedding`. Memories that were written since the switch have no vector
    of the old embedder: the report counts them as ``left``, and
    `GraphWriter.backfill_embeddings` makes the missing vectors. Call it again after an
    interruption: it continues where it stopped.

    Raises
    ------
    InvalidInputError
        There is nothing to roll back.
    """
    store = writable_store_of(store, database).patient()
    other = (await probe(store)).reembedding
    if other is not None:
        if other.state == "filling":
            await advance(store, other.generation, ["filling"], "dropping")
        await swap(store, other.generation, ["sweeping", "kept"], "dropping")
    facts = await probe(store)
    other = facts.reembedding
    if other is None or not is_rolled_back(facts, other):
        raise InvalidInputError(
            "there is nothing to roll back: no embedder was changed by memoria reembed, or the "
            "old vectors are deleted"
        )
    return await drop_other(store, facts, other, progress)


def is_rolled_back(facts: ServerFacts, other: Reembedding) -> bool:
    """Tell whether the newer generation is being deleted."""
    return other.state == "dropping" and other.generation > facts.generation


async def drop_other(
    store: Store, facts: ServerFacts, other: Reembedding, progress: ProgressCallback
) -> ReembedReport:
    """Delete the other generation, whose state is ``dropping``."""
    await await_transactions(store)
    left = await remove(store, other.generation, facts.generation, progress)
    await end(store, other.generation)
    store.facts.put(await probe(store))
    return ReembedReport(
        state="rolled back" if other.generation > facts.generation else "finished",
        embedder=facts.embedder,
        dimensions=facts.dimensions,
        replaced=other.embedder,
        left=left,
    )
