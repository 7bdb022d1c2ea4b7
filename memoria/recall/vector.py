"""The vector of a query, or the reason why there is none.

In: a query, an embedder. Out: its vector. Touches what the embedder does.
"""

from __future__ import annotations

import asyncio
import logging

from memoria._support.seldom import SELDOM
from memoria._support.wording import in_short
from memoria.embed import Embedder, check_vectors
from memoria.errors import MemoriaError

log = logging.getLogger(__name__)


async def query_vector(
    embedder: Embedder | None, query: str, *, until: float, notes: list[str]
) -> tuple[float, ...] | None:
    """Make the query's vector. If that fails or takes too long, the search is by words only.

    Parameters
    ----------
    until
        Time of the loop's clock at which the vector must be there; seconds.
    notes
        Takes the reason why there is no vector.

    Raises
    ------
    MemoriaError
        The embedder raised one, or returned something that is not a vector of its dimensions.
    """
    if embedder is None:
        notes.append("no embedder: searched by words only")
        return None
    try:
        async with asyncio.timeout_at(until) as limit:
            vector = await embedder.embed_query(query)
    except MemoriaError:
        raise
    except Exception as exc:  # noqa: BLE001  # foreign code, such as the client of a service
        if limit.expired():
            reason = "took too long"
            SELDOM.warn(log, "the embedder took too long: searching by words")
        else:
            reason = f"failed ({in_short(exc)})"
            # Its text may quote the query: the caller may read that, but the log must not hold it.
            SELDOM.warn(log, "the embedder failed (%s): searching by words", type(exc).__name__)
        notes.append(f"the embedder {reason}: searched by words only")
        return None
    name, dimensions = embedder.name, embedder.dimensions
    return tuple(check_vectors([vector], name=name, count=1, dimensions=dimensions)[0])
