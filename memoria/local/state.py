"""The description of a running server, and the lock of its folder.

In: a server's folder. Out: ``ServerInfo``. Touches: the state file and the lock file.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from memoria._support.process_files import written_whole
from memoria.errors import LocalServerError
from memoria.local import process
from memoria.local.settings import HOST, NEO4J_VERSION, USER, Layout

LOCK_TIMEOUT_S = 180.0
#: psutil calculates when a process started from the boot time, which moves when the clock is set.
BIRTH_TOLERANCE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """A running local server.

    Attributes
    ----------
    uri
        Bolt address, on the loopback interface.
    user
        User name.
    password_file
        File with the password, readable by its owner only.
    pid
        Process id of the server.
    version
        Version of the running Neo4j.
    """

    uri: str
    user: str
    password_file: Path
    pid: int
    version: str

    def to_dict(self) -> dict[str, str | int]:
        """Return the same as values for JSON."""
        return {**asdict(self), "password_file": str(self.password_file)}


def uri_of(port: int) -> str:
    """Return the address of a server on this machine."""
    return f"bolt://{HOST}:{port}"


def read_state(layout: Layout) -> ServerInfo | None:
    """Read the state file; None unless exactly that process still runs."""
    try:
        state = json.loads(layout.state.read_text(encoding="utf-8"))
        pid, port, version = int(state["pid"]), int(state["port"]), str(state["version"])
        born = float(state["created"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    now = process.birth_time(pid, layout)
    if now is None or abs(now - born) > BIRTH_TOLERANCE_S:
        return None
    return _info(layout, pid, port, version)


def write_state(layout: Layout, pid: int, port: int) -> ServerInfo:
    """Describe a server that answers; readers see the old file or the new one, never a part."""
    created = process.birth_time(pid, layout)
    if created is None:
        raise LocalServerError("the local server was ended while it started; start it again")
    state = {"pid": pid, "created": created, "port": port, "version": NEO4J_VERSION}
    with process.using(layout.root), written_whole(layout.state) as partial:
        process.write_private(partial, json.dumps(state))
    return _info(layout, pid, port, NEO4J_VERSION)


def _info(layout: Layout, pid: int, port: int, version: str) -> ServerInfo:
    return ServerInfo(
        uri=uri_of(port), user=USER, password_file=layout.password, pid=pid, version=version
    )


def _make_private(folder: Path) -> None:
    """Make a folder that only its owner can read, also if it is there with other rights."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        folder.chmod(0o700)


@asynccontextmanager
async def locked(layout: Layout, *, timeout_s: float = LOCK_TIMEOUT_S) -> AsyncIterator[None]:
    """Hold the lock of a server's folder; the system frees it if this process is killed.

    Raises
    ------
    LocalServerError
        Another process held it for ``timeout_s``, or the folder can't be written.
    """
    from filelock import FileLock, Timeout

    end = time.monotonic() + timeout_s
    with process.using(layout.root):
        await asyncio.to_thread(_make_private, layout.root)
    lock = FileLock(layout.lock, thread_local=False)
    while not lock.is_locked:
        try:
            lock.acquire(blocking=False)
        except Timeout as exc:  # is an OSError, too
            if time.monotonic() > end:
                raise LocalServerError(
                    "another process has been starting or stopping the local server for "
                    f"{timeout_s:.0f} s; end it, then try again"
                ) from exc
            await asyncio.sleep(process.POLL_S)
        except OSError as exc:
            raise process.explain_os_error(exc, layout.root) from exc
    try:
        yield
    finally:
        lock.release()
