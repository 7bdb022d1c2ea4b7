"""Find, name and remove the files that killed processes left in memoria's folder.

In: memoria's folder. Out: `LeftBehind`, one for each file or folder. Reads the list of processes.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memoria.local.bulk import is_at_work, left_imports, set_aside
from memoria.local.settings import Layout

#: A download that has not grown for so long has been given up; seconds.
_GIVEN_UP_S = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBehind:
    """A file or folder that a killed process would have removed.

    Attributes
    ----------
    path
        Where it is.
    what
        What it contains.
    """

    path: Path
    what: str


def left_behind(home: Path) -> tuple[LeftBehind, ...]:
    """Find what killed processes left in a folder of memoria."""
    found = [*_removable(home)]
    if not is_at_work(layout := Layout(home / "server")):
        found += [
            LeftBehind(path=path, what="a database that an import was about to replace")
            for path in set_aside(layout)
        ]
    return tuple(found)


def remove_left_behind(home: Path) -> None:
    """Remove what killed processes left; the start of the server looks after its databases."""
    for each in _removable(home):
        if each.path.is_dir():
            shutil.rmtree(each.path, ignore_errors=True)
        else:
            each.path.unlink(missing_ok=True)


def _removable(home: Path) -> Iterator[LeftBehind]:
    for folder in left_imports(home):
        yield LeftBehind(path=folder, what="texts of a killed import")
    for file in home.glob("serving/*.json"):
        if not _is_served(file):
            yield LeftBehind(path=file, what="address of a killed memoria mcp")
    for file in home.glob("models/.*.part"):
        if _age_s(file) > _GIVEN_UP_S:
            yield LeftBehind(path=file, what="part of a download")


def _is_served(file: Path) -> bool:
    """Tell whether the server of a file still runs; also True if nobody can tell."""
    import psutil

    try:
        return bool(psutil.pid_exists(int(json.loads(file.read_text(encoding="utf-8"))["pid"])))
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return file.exists()


def _age_s(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except OSError:  # it has just been completed
        return 0.0
