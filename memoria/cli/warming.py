"""What `memoria up` leaves running for a moment: it lets the local server plan its queries.

    python -m memoria.cli.warming

In: the local server of memoria's home. Out: nothing; a failure is the next recall's to report.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys

from memoria.cli.connection import on_target
from memoria.connection import find_target
from memoria.errors import MemoriaError
from memoria.recall.warming import warm_plans
from memoria.store import Store

# It ends by itself after this time; seconds.
_LONGEST_S = 120.0


def warm_later() -> None:
    """Start a process of its own that warms the plans of the local server, and ends."""
    subprocess.Popen(
        [sys.executable, "-m", "memoria.cli.warming"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


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
