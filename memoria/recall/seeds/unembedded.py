"""Make seeds of memories without an embedding, which a vector search can't find (source: 003).

In: the result of the hybrid search. Out: the same, with further seeds. Reads only.
Query: ``seeds.unembedded``.
"""

from __future__ import annotations

from dataclasses import replace

from memoria._support.checks import is_id
from memoria._support.wording import number_of
from memoria.errors import MemoriaError
from memoria.recall.seeds.search import SeedRequest
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import Seed, Seeds

#: Score of a seed that was compared with nothing: the smallest score that counts as activated.
SCORE = 0.01
#: How the note on pending vectors begins.
VECTORS_PENDING = "vectors are pending"


def pending_note(found: Seeds) -> str:
    """Say how many memories have no vector yet.

    >>> pending_note(Seeds(seeds=(), pending=1)).partition(",")[0]
    'vectors are pending: 1 memory has none yet'
    """
    waiting = number_of(found.pending, "memory has", "memories have")
    return (
        f"{VECTORS_PENDING}: {waiting} none yet, so only words and edges lead there; "
        "the next writes make them, or memoria embed"
    )


async def with_unembedded(store: Store, found: Seeds, request: SeedRequest) -> Seeds:
    """Add memories without an embedding as seeds, the newest first.

    A memory that the search by words has found keeps its score; the others get `SCORE`. If the
    memories can't be read, the result of the search stays as it is, and its notes say so.

    Parameters
    ----------
    request
        What the search looked for. Its settings say how many memories to add, at most; with 0 the
        server is not asked.

    Notes
    -----
    One round trip, in which the server reads the scope once.
    """
    limit = request.config.unembedded
    if not limit:
        return found
    parameters = {
        **request.where.parameters,
        "held": request.validity.held,
        "limit": limit + 1,
        "scope": request.scope,
    }
    query = load("seeds.unembedded").at(request.generation)
    try:
        record = (await store.run(query, parameters, until=request.until))[0]
    except MemoriaError as exc:
        note = f"memories without an embedding could not be read ({exc})"
        return replace(found, degraded=(*found.degraded, note))
    ids: list[str] = record["ids"]
    notes = list(found.degraded)
    if len(ids) > limit:
        notes.append(
            f"more than {number_of(limit, 'memory has', 'memories have')} no embedding: only "
            f"the newest {number_of(limit, 'was', 'were')} taken; "
            "memoria embed, or GraphWriter.backfill_embeddings, embeds them"
        )
    known = {seed.id for seed in found.seeds}
    by_words = {seed.id: seed for seed in found.runners_up}
    added = [
        by_words.get(node) or Seed(id=node, score=SCORE)
        for node in ids[:limit]
        if is_id(node) and node not in known
    ]
    taken = {seed.id for seed in added}
    return replace(
        found,
        seeds=(*found.seeds, *sorted(added, key=lambda seed: (-seed.score, seed.id))),
        runners_up=tuple(hit for hit in found.runners_up if hit.id not in taken),
        degraded=tuple(notes),
    )
