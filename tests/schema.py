"""What tests ask of a set-up: that it is complete, and made for these vectors."""

from __future__ import annotations

from memoria.graph.server_facts import check_vectors_fit, probe, require_online
from memoria.graph.vocabulary import META_INDEX, TEXT_INDEX, UNIQUE_INDEX, VECTOR_INDEX
from memoria.store import ServerFacts, Store


async def check_schema(
    store: Store, *, dimensions: int | None = None, embedder: str | None = None
) -> ServerFacts:
    """Ask the server anew; raise what memoria raises of a set-up that is incomplete or other."""
    facts = await probe(store)
    for name in (UNIQUE_INDEX, META_INDEX, TEXT_INDEX, VECTOR_INDEX):
        require_online(name, facts)
    check_vectors_fit(facts, dimensions=dimensions, embedder=embedder)
    return facts
