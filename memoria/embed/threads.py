"""Run blocking work on texts in threads, piece by piece.

In: a blocking function and texts. Out: its results, in the order of the texts.
Touches the given thread pool. The pieces are small, so that a query need not wait for all texts,
and a cancelled call stops soon.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import TypeVar

T = TypeVar("T")


async def map_pieces(
    pool: Executor,
    function: Callable[[Sequence[str]], list[T]],
    texts: Sequence[str],
    *,
    piece: int,
    workers: int,
) -> list[T]:
    """Call ``function`` on pieces of ``texts`` in ``pool`` and join the results.

    Parameters
    ----------
    function
        Blocking function that returns one result per text.
    piece
        Texts in one call, >= 1.
    workers
        How many calls run at a time, >= 1.

    Returns
    -------
    list
        One result per text, in the order of the texts.

    Raises
    ------
    Exception
        The first error that ``function`` raises; the remaining pieces are dropped.
    """
    loop = asyncio.get_running_loop()
    pieces = [texts[start : start + piece] for start in range(0, len(texts), piece)]
    results: list[list[T]] = [[] for _ in pieces]
    waiting = iter(enumerate(pieces))

    async def work() -> None:
        for index, part in waiting:
            results[index] = await loop.run_in_executor(pool, function, part)

    tasks = [asyncio.create_task(work()) for _ in range(min(workers, len(pieces)))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return [result for part in results for result in part]
