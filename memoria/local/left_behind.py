"""Find, name and remove the files that killed processes left.

In: memoria's folder, the Maven cache. Out: `LeftBehind`, one for each file or folder. Reads the
list of processes.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from memoria._support.home import EXPORTING, UNFINISHED, cache_folder
from memoria.downloads.lock import package_lock
from memoria.local.bulk import is_at_work, left_imports, set_aside
from memoria.local.ephemeral import remove_leftovers
from memoria.local.settings import Layout

#: A file that has not grown for so long has been given up; seconds.
_GIVEN_UP_S = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBehind:
    """A file or folder that a killed process would have removed."""

    path: Path
    what: str


def left_behind(home: Path) -> tuple[LeftBehind, ...]:
    """Find what killed processes left in a folder of memoria, and where they noted it there."""
    found = [*_removable(home)]
    if not is_at_work(layout := Layout.of(home)):
        found += [
            LeftBehind(path=path, what="a database that an import was about to replace")
            for path in set_aside(layout)
        ]
    return tuple(found)


def remove_left_behind(home: Path) -> None:
    """Remove what killed processes left; the start of the server looks after its databases.

    Throw-away servers of killed processes go, too.
    """
    remove_leftovers(Path(tempfile.gettempdir()))
    for each in _removable(home):
        if each.path.is_dir():
            shutil.rmtree(each.path, ignore_errors=True)
        else:
            each.path.unlink(missing_ok=True)


def _removable(home: Path) -> Iterator[LeftBehind]:
    for folder in left_imports(home):
        yield LeftBehind(path=folder, what="texts of a killed import")
    for file in home.glob("serving/*.json"):
        if _ended(file) is not None:
            yield LeftBehind(path=file, what="address of a killed memoria mcp")
    for file in home.glob(f"{EXPORTING}/*.json"):
        if (facts := _ended(file)) is not None:
            path = Path(str(facts.get("path")))
            if path.is_absolute() and path.name.startswith(UNFINISHED) and path.exists():
                yield LeftBehind(path=path, what="part of an export")
            yield LeftBehind(path=file, what="place of a killed export")
    for file in Layout.of(home).startup_caches():
        if file.suffix != ".aot" and _age_s(file) > _GIVEN_UP_S:
            yield LeftBehind(path=file, what="part of a start-up cache")
    cache = cache_folder()  # once: it reads files of settings
    jars = {(cache / jar.path).parent for jar in chain(*package_lock().sets.values())}
    for file in chain.from_iterable(each.glob(".*.part") for each in (home / "models", *jars)):
        if _age_s(file) > _GIVEN_UP_S:
            yield LeftBehind(path=file, what="part of a download")


def _ended(file: Path) -> dict[str, Any] | None:
    """Return what a process noted in a file; None if it still runs, or if nobody can tell."""
    import psutil

    try:
        facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return None if psutil.pid_exists(int(facts["pid"])) else facts
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def _age_s(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except OSError:  # it has just been completed
        return 0.0
