"""Make the vector of a query, or note the reason why the query has no vector.

In: a query, an embedder. Out: the vector. Touches only what the embedder touches.
"""

from __future__ import annotations

import asyncio
import logging

from memoria._support.throttling import throttled_warning
from memoria._support.wording import in_short
from memoria.embed import Embedder, check_vectors
from memoria.errors import InvalidInputError, MemoriaError

log = logging.getLogger(__name__)


async def query_vector(
    embedder: Embedder | None, query: str, *, until: float, notes: list[str]
) -> tuple[float, ...] | None:
    """Make the query's vector; None if there is no embedder, or if it fails or is too slow.

    Parameters
    ----------
    until
        Time of the loop's clock at which the vector must be there; seconds.
    notes
        List to which the reason is added if there is no vector.

    Raises
    ------
    MemoriaError
        The embedder raised it, other than about its vector.
    """
    if embedder is None:
        notes.append("no embedder: searched by words only")
        return None
    try:
        async with asyncio.timeout_at(until) as limit:
            vector = await embedder.embed_query(query)
        size, name = embedder.dimensions, embedder.name
        return tuple(check_vectors([vector], name=name, count=1, dimensions=size)[0])
    except InvalidInputError as exc:
        notes.append(f"{exc}: searched by words only")
        throttled_warning(log, "the embedder returned no vector: searching by words")
        return None
    except MemoriaError:
        raise
    except Exception as exc:  # noqa: BLE001  # foreign code, such as the client of a service
        if limit.expired():
            reason = "took too long"
            throttled_warning(log, "the embedder took too long: searching by words")
        else:
            reason = f"failed ({in_short(exc)})"
            # The error may quote the query, which the caller may see, but the log must not hold.
            throttled_warning(
                log, "the embedder failed (%s): searching by words", type(exc).__name__
            )
        notes.append(f"the embedder {reason}: searched by words only")
        return None
