"""The start-up cache of the local server: the classes that Java loads at a start, in one file.

In: a server's folder. Out: options of Java. Touches: files in that folder.

Loading and linking its classes takes Java a third of the processor time of a start. It reads them
from this cache (JEP 483) if the same Java has made it from the same jars; otherwise it starts
without. The name of the file has a key of both, so that another is made then.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

from memoria._support.home import cache_folder
from memoria.downloads.lock import package_lock
from memoria.local.process import java
from memoria.local.settings import COORDINATE, Layout

#: A cache takes about 190 MB, and Java writes as much again while it makes one.
FREE_DISK_MB = 1_000
# Variables with options for every Java. Where they name a cache, Java accepts no second one.
_FOR_ALL = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
_OF_CACHES = ("-XX:AOT", "-Xshare", "-XX:Shared", "-XX:DumpLoadedClassList")


def options(layout: Layout) -> list[str]:
    """Return the options by which a server reads its cache, once that exists."""
    cache = _cache(layout)
    return [f"-XX:AOTCache={cache}"] if cache.exists() and not _is_chosen() else []


def begin(layout: Layout) -> Path | None:
    """Return a new file, which only the owner can read, for Java to write the cache to.

    None if there is a cache, if another process makes one, or if the disk has no room for it; and
    on Windows, where Java can't be asked to end, which is when it writes the cache.
    """
    cache = _cache(layout)
    if cache.exists() or _is_chosen() or sys.platform == "win32":
        return None
    if shutil.disk_usage(layout.root).free >> 20 < FREE_DISK_MB:
        return None
    unfinished = cache.with_suffix(".new")
    try:
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return None
    return unfinished


def complete(unfinished: Path) -> None:
    """Let the next starts use a cache, and remove those that no start can use any more."""
    unfinished.chmod(0o600)
    cache = unfinished.replace(unfinished.with_suffix(".aot"))
    for other in Layout(cache.parent).startup_caches():
        if other != cache:
            other.unlink(missing_ok=True)


def _cache(layout: Layout) -> Path:
    """Return the cache for this Java and these jars."""
    folder = cache_folder()
    files = [java(), *(folder / jar.path for jar in package_lock().jars_of(COORDINATE))]
    key = hashlib.sha256("\n".join(map(_state, files)).encode()).hexdigest()
    return layout.root / f"startup-{key[:12]}.aot"


def _state(file: Path) -> str:
    try:
        stat = file.stat()
    except OSError:  # a server without it does not start
        return f"{file} is missing"
    return f"{file} {stat.st_size} {stat.st_mtime_ns}"


def _is_chosen() -> bool:
    given = " ".join(os.environ.get(name, "") for name in _FOR_ALL)
    return any(option in given for option in _OF_CACHES)
