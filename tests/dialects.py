"""The two ways to search an index of vectors, and which of them the server under test knows."""

from __future__ import annotations

from typing import Literal, get_args

from memoria.graph.server_facts import server_facts
from memoria.store import Store

Dialect = Literal["search", "procedure"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)


async def dialects_of(store: Store) -> tuple[Dialect, ...]:
    """Return the dialects that the server runs: it is asked, since an index counts as well."""
    facts = await server_facts(store)
    return tuple(each for each in DIALECTS if each in ("procedure", facts.vector_dialect))
