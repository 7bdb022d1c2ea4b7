"""Let a local server that has just started plan the queries of recalls, for `memoria up`.

    python -m memoria.cli.warming

In: the local server of memoria's home. Out: nothing; the next recall reports a failure.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import suppress

from memoria.cli.connection import on_target
from memoria.connection import find_target
from memoria.errors import MemoriaError
from memoria.recall.warming import warm_plans
from memoria.store import Store

# The process ends by itself after this time; seconds.
_LONGEST_S = 120.0
# So long `memoria up` waits for it; seconds. A recall that has to wait for plans may fail.
_PATIENCE_S = 60.0


def warm_up() -> None:
    """Warm the plans of the local server in another process, which continues if it takes long."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memoria.cli.warming"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE_S)


async def _warm(store: Store) -> None:
    await warm_plans(store, scope="default")


async def main() -> None:
    """Warm the plans; a server that goes away meanwhile ends it."""
    try:
        async with asyncio.timeout(_LONGEST_S):
            await on_target(await find_target(uri=None), _warm)
    except (MemoriaError, TimeoutError):
        return


if __name__ == "__main__":
    asyncio.run(main())
