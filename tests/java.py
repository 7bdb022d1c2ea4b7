"""How the servers of the tests start: Java as ever, but sooner ready, as each lives for minutes.

Run as a program, it makes the cache that later starts read: ``python -m tests.java CACHE``.
Touches: processes, the cache file and one beside it.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from memoria.cli import make_startup_cache

VARIABLE = "JDK_JAVA_OPTIONS"
# The second compiler takes more time than it gives back, half of it during the start and while
# queries are planned; a collector with threads of its own has no core to run them on. Without the
# second compiler Java keeps little room for compiled code, and collects all garbage to make more.
# It does so twice, too, while it loads the classes of a server, unless it plans for so many.
BRIEF = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=256m -XX:+UseSerialGC"
)
if sys.platform == "linux":  # Java elsewhere does not know the option
    BRIEF += " -XX:+UseTransparentHugePages"


def options(cache: Path) -> str:
    """Return options for servers of the tests; Java does without a cache that is not there yet."""
    return f"{BRIEF} -XX:AOTCache={cache}"


def make(cache: Path) -> subprocess.Popen[bytes]:
    """Begin to make the cache, in another process: to load classes takes two fifths of a start."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.java", str(cache)],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


async def _make(cache: Path) -> None:
    """Make the cache as memoria makes that of a user's server."""
    unfinished = cache.with_suffix(f".{os.getpid()}.new")  # another run may make one, too
    os.environ[VARIABLE] = BRIEF
    try:
        await make_startup_cache.make(unfinished)
        unfinished.rename(cache)  # complete or not there
    finally:
        unfinished.unlink(missing_ok=True)


if __name__ == "__main__":
    asyncio.run(_make(Path(sys.argv[1])))
