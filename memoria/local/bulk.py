"""Load an empty server from files, with Neo4j's own offline import.

In: the folder of a stopped server, its jars, two files of rows. Out: a database with these rows.
Touches: a Java process, the server's database and its report of bad rows.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from memoria._support.progress import ProgressCallback, silent
from memoria.errors import LocalServerError
from memoria.local import process
from memoria.local.admin import administer, end_tool
from memoria.local.settings import Layout

DATABASE = "neo4j"
HEAP_MB = 1_024
STEPS = 4
_FOLDER = "import-"
_PROGRESS = re.compile(r"\((\d)/4\) |(\d+)% ∆")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportFiles:
    """Files of rows for Neo4j's offline import, each with a header line.

    Attributes
    ----------
    memories
        File with the rows of nodes.
    relations
        File with the rows of ``RELATES`` relationships.
    list_delimiter
        The character that joins the values of a list.
    multiline
        Whether any value contains a line break.
    """

    memories: Path
    relations: Path
    list_delimiter: str
    multiline: bool


@contextmanager
def import_folder(home: Path) -> Iterator[Path]:
    """Provide a temporary folder for the files of an import, readable only by its owner.

    The files contain all texts. The folder is removed at the end; if the process is killed,
    `remove_left_imports` removes it later.
    """
    home.mkdir(parents=True, exist_ok=True)
    remove_left_imports(home)
    with tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-", dir=home) as folder:
        yield Path(folder)


def remove_left_imports(home: Path) -> None:
    """Remove the import folders of killed processes."""
    for folder in left_imports(home):
        shutil.rmtree(folder, ignore_errors=True)


def left_imports(home: Path) -> list[Path]:
    """Find the import folders of killed processes."""
    import psutil

    found = []
    for folder in home.glob(f"{_FOLDER}*"):
        number = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if not (number.isascii() and number.isdigit()):
            continue
        with suppress(OverflowError):  # no process has this number, so it is not our folder
            if not psutil.pid_exists(int(number)):
                found.append(folder)
    return found


def check_import(layout: Layout, *, overwrite: bool) -> None:
    """Refuse an import that can't work, or that would delete somebody's memories.

    Raises
    ------
    LocalServerError
        The server runs, or it has a database and ``overwrite`` is False.
    """
    if process.find(layout) is not None:
        raise LocalServerError(
            "the local server runs, but an offline import needs it stopped: run memoria down"
        )
    if not overwrite and (layout.data / "databases" / DATABASE).exists():
        raise LocalServerError(
            f"the local server already has a database, in {layout.data}, and an offline import "
            "makes a new one. Add to the database with memoria ingest, name another folder by "
            "MEMORIA_HOME, or replace the database (--overwrite)"
        )


async def import_files(
    layout: Layout,
    jars: list[Path],
    files: ImportFiles,
    *,
    progress: ProgressCallback | None = None,
) -> None:
    """Replace the database of a server with one made from these files.

    The caller holds the server's lock, and has called `recover` and `check_import`.

    Parameters
    ----------
    progress
        Called with ``"import"``, the part that is done, and the whole.

    Raises
    ------
    LocalServerError
        Neo4j refuses the files, or there is too little memory or disk space. The state before the
        import, with or without a database, is restored.
    """
    with process.using(layout.root):
        layout.conf.mkdir(parents=True, exist_ok=True)
        (layout.conf / "neo4j.conf").touch()
    report = layout.root / "import-report.txt"
    command = ["database", "import", "full", DATABASE]
    command += [f"--nodes={files.memories}", f"--relationships=RELATES={files.relations}"]
    command += [f"--array-delimiter=U+{ord(files.list_delimiter):04X}", f"--report-file={report}"]
    command += [f"--multiline-fields={str(files.multiline).lower()}"]
    # Without --add-opens the import fails half-way and leaves a database that does not start.
    options = (f"-Xmx{HEAP_MB}m", "--add-opens=java.base/java.nio=ALL-UNNAMED")
    with _set_aside(layout):
        outcome = await administer(
            layout, jars, command, java_options=options, on_text=_Progress(progress or silent)
        )
        if outcome.status != 0:
            raise LocalServerError(f"Neo4j refuses to import the files: {_reason(outcome.said)}")
    report.unlink(missing_ok=True)


def set_aside(layout: Layout) -> list[Path]:
    """Find what an import has set aside: the parts of the old database."""
    return [old for _, old in _places(layout) if old.exists()]


def is_at_work(layout: Layout) -> bool:
    """Tell whether a process is at work on the database, or on the start of its server."""
    from filelock import FileLock, Timeout

    if not layout.lock.exists():
        return False
    try:
        with FileLock(layout.lock, timeout=0):
            return False
    except Timeout:
        return True


async def recover(layout: Layout) -> None:
    """Finish a killed import: keep its database if it is complete, else the old one.

    The caller holds the lock of the folder.
    """
    if not set_aside(layout):
        return
    await end_tool(layout)  # Java may still be at work for the killed process
    if layout.imported.exists():
        _forget_old(layout)
    else:
        _put_back(layout)


@contextmanager
def _set_aside(layout: Layout) -> Iterator[None]:
    """Keep the old database until the new one is complete; put it back if the import fails."""
    layout.imported.unlink(missing_ok=True)
    for place, old in _places(layout):
        if place.exists():
            place.rename(old)
        else:
            old.mkdir(parents=True)  # a sign of the import, for `recover`
    try:
        yield
    except BaseException:
        _put_back(layout)
        raise
    layout.imported.touch()
    _forget_old(layout)


def _places(layout: Layout) -> list[tuple[Path, Path]]:
    """Return the folders of the database, each with its name while it is set aside."""
    places = [layout.data / part / DATABASE for part in ("databases", "transactions")]
    return [(place, place.with_name(f"{DATABASE}-replaced")) for place in places]


def _put_back(layout: Layout) -> None:
    for place, old in _places(layout):
        if not old.exists():
            continue
        shutil.rmtree(place, ignore_errors=True)  # an incomplete database would not start
        if any(old.iterdir()):
            old.rename(place)
        else:
            old.rmdir()


def _forget_old(layout: Layout) -> None:
    for _, old in _places(layout):
        shutil.rmtree(old, ignore_errors=True)
    layout.imported.unlink(missing_ok=True)


class _Progress:
    """Adds up the progress that the tool prints for its four steps."""

    def __init__(self, report: ProgressCallback) -> None:
        self._report = report
        self._step = 0
        self._rest = ""

    def __call__(self, text: str) -> None:
        *lines, self._rest = (self._rest + text).split("\n")
        for match in (match for line in lines for match in _PROGRESS.finditer(line)):
            if match[1]:
                self._step = int(match[1])
            done = 100 * (self._step - 1) + int(match[2] or 0)
            self._report("import", done, 100 * STEPS)


def _reason(said: str) -> str:
    """Find the reason of a failure in the output of the tool, without its rows of dots."""
    lines = [line.strip() for line in said.splitlines() if line.strip(" -.")]
    start = lines.index("Command Failed") + 1 if "Command Failed" in lines else -5
    return " ".join(lines[start:])[:1_000]
