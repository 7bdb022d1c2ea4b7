"""A store for tests that compare two recalls: a search by words brings the same hits again.

BM25 counts the words of all scopes, and other tests write meanwhile: of two searches a moment
apart, the second may rank two memories the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import neo4j

from memoria.store import Store
from memoria.store.queries import Query


class Steady(Store):
    """The store, but a search by words that was made before has the hits of the first time."""

    def __init__(self, driver: neo4j.AsyncDriver) -> None:
        super().__init__(driver, database="neo4j")
        self._first: dict[str, list[neo4j.Record]] = {}

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        records = await super().run(query, parameters, until=until)
        if query.name != "seeds.text":
            return records
        # All but the present time, which each recall has of its own.
        asked = sorted((name, value) for name, value in parameters.items() if name != "held")
        return self._first.setdefault(repr(asked), records)
