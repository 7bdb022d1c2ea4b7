"""Facts about a server, for tests that need no server."""

from __future__ import annotations

from typing import Any

from memoria.store.facts import ServerFacts

_FACTS: dict[str, Any] = {
    "version": "2026.08.1",
    "edition": "community",
    "vector_dialect": "search",
    "dimensions": 3,
    "embedder": None,
    "indexes": {},
}


def server_facts(**given: Any) -> ServerFacts:
    """Return facts about a server of 2026 with vectors of three numbers, some of them given."""
    return ServerFacts(**_FACTS | given)
