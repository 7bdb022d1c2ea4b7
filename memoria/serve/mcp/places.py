"""Where servers of this user listen: a small file for each, so that hooks find them.

In: the port of a server. Out: addresses. Writes and removes files in memoria's folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memoria._support.home import default_home

#: Where a server takes the calls of hooks.
HOOK_PATH = "/hook"


def _folder() -> Path:
    return default_home() / "serving"


@contextmanager
def announced(host: str, port: int) -> Iterator[None]:
    """Say while the block runs that a server listens at a port of this machine."""
    file = _folder() / f"{port}.json"
    with suppress(OSError):  # a folder that can't be written costs the hooks a second, no more
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"host": host, "port": port}), encoding="utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink(missing_ok=True)


def addresses() -> list[tuple[str, int]]:
    """Return hosts and ports that servers have announced; some may have been killed since."""
    found = []
    for file in sorted(_folder().glob("*.json")):
        try:
            place = json.loads(file.read_text(encoding="utf-8"))
            found.append((str(place["host"]), int(place["port"])))
        except (OSError, ValueError, TypeError, KeyError):
            continue
    return found
