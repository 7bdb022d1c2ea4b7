"""A throw-away Neo4j for tests and trials: its data and its process end with the parent process.

In: sizes. Out: an address and credentials inside ``async with``.
Touches: its own temporary folder, processes, the internet for the download.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from memoria._support.home import default_home
from memoria._support.progress import ProgressCallback
from memoria.downloads.jars import resolve_jars
from memoria.errors import ClosedError, LocalServerError
from memoria.local import password, process, readiness
from memoria.local.guard import Guard
from memoria.local.readiness import PORT_ATTEMPTS, PortTakenError
from memoria.local.settings import ARTIFACT, NEO4J_VERSION, USER, Layout, Sizes, whole_version
from memoria.local.state import uri_of

PREFIX = "memoria-neo4j-"
#: A folder without a running server is removed at this age, which is longer than any start takes.
LEFTOVER_AGE_S = 3600.0


class EphemeralNeo4j:
    """A server with a throw-away data directory, for ``async with``.

    A guard process between parent and server holds the reading end of a pipe. In whatever way the
    parent ends, the pipe closes, and the guard kills the server and removes the folder.

    Parameters
    ----------
    home
        memoria's folder, for the notes of which jars were checked; by default ``MEMORIA_HOME``,
        else a folder in the user's data folder.
    heap_mb, page_cache_mb
        Memory limits; see ``Sizes``.
    extra_settings
        Further lines of ``neo4j.conf``; they override memoria's own.
    java_options
        Options of Java for the server, in addition to memoria's own, which come after them.
    version
        Version of Neo4j, one of ``memoria.local.settings.NEO4J_VERSIONS``, or how one begins:
        ``5.26``.
    progress
        See ``memoria.downloads.jars.resolve_jars``; called in a worker thread.

    Attributes
    ----------
    version
        Version of Neo4j, whole.

    Raises
    ------
    ConfigError
        A size is too small, or memoria does not run this version by itself.
    """

    def __init__(
        self,
        home: Path | None = None,
        *,
        heap_mb: int = 512,
        page_cache_mb: int = 64,
        extra_settings: Mapping[str, str] | None = None,
        java_options: Sequence[str] = (),
        version: str = NEO4J_VERSION,
        progress: ProgressCallback | None = None,
    ) -> None:
        self._home = home
        self._sizes = Sizes(heap_mb=heap_mb, page_cache_mb=page_cache_mb)
        self._extra = dict(extra_settings or {})
        self._java_options = tuple(java_options)
        self.version = whole_version(version)
        self._progress = progress
        self._layout: Layout | None = None
        self._guard: Guard | None = None
        self._password = ""
        self._port = 0
        self._pid = 0

    async def __aenter__(self) -> Self:
        process.java()
        home = (self._home or default_home()).expanduser().resolve()
        jars = await asyncio.to_thread(
            resolve_jars, f"{ARTIFACT}:{self.version}", home=home, progress=self._progress
        )
        await asyncio.to_thread(remove_leftovers, Path(tempfile.gettempdir()))
        root = await asyncio.to_thread(_new_folder)
        self._layout = Layout(root)
        try:
            process.check_room(self._layout, self._sizes)
            self._password = await password.prepare(self._layout, jars)
            self._guard = Guard(self._opened().root)
            await self._launch(jars)
        except OSError as exc:
            await self.aclose()
            raise process.explain_os_error(exc, root) from exc
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def uri(self) -> str:
        """Bolt address."""
        self._opened()
        return uri_of(self._port)

    @property
    def auth(self) -> tuple[str, str]:
        """User name and password."""
        self._opened()
        return USER, self._password

    @property
    def pid(self) -> int:
        """Process id of the server, even after the server was killed."""
        self._opened()
        return self._pid

    @property
    def guard_pid(self) -> int:
        """Process id of the guard between this process and the server."""
        return self._guarding().pid

    @property
    def folder(self) -> Path:
        """The throw-away folder."""
        return self._opened().root

    def log_tail(self, lines: int = 50) -> str:
        """Return the last lines of the server's log."""
        return readiness.tail(self._opened(), lines)

    async def restart(self) -> None:
        """Shut the server down, if it still runs, and start it on the same port with the same data.

        Raises
        ------
        LocalServerError
            The server did not start again.
        """
        layout = self._opened()
        guard = self._guarding()
        try:
            await guard.ask("stop")
        except LocalServerError:  # the guard was killed, so start a new guard
            self._guard = Guard(layout.root)
            await guard.close()
            await self._end_server(layout)
        await self._start_server()

    async def aclose(self) -> None:
        """Kill the server and remove its folder. Safe to call again."""
        layout, self._layout = self._layout, None
        if layout is None:
            return
        guard, self._guard = self._guard, None
        if guard is not None:
            await guard.close()
        await self._end_server(layout)
        await asyncio.to_thread(shutil.rmtree, layout.root, ignore_errors=True)

    def _opened(self) -> Layout:
        if self._layout is None:
            raise ClosedError("the ephemeral server is not open: use it inside 'async with'")
        return self._layout

    def _guarding(self) -> Guard:
        if self._guard is None:
            raise ClosedError("the ephemeral server is not open: use it inside 'async with'")
        return self._guard

    async def _launch(self, jars: list[Path]) -> None:
        layout = self._opened()
        for attempt in range(1, PORT_ATTEMPTS + 1):
            self._port = readiness.free_port()
            process.write_configuration(
                layout,
                port=self._port,
                sizes=self._sizes,
                extra=self._extra,
                version=self.version,
            )
            process.write_arguments(layout, jars, self._sizes, self._java_options)
            try:
                await self._start_server()
            except PortTakenError:
                if attempt == PORT_ATTEMPTS:
                    raise
            else:
                return

    async def _start_server(self) -> None:
        layout = self._opened()
        command = process.server_command(layout, self.version)
        request = {"log": str(layout.console), "command": command}
        pid = self._pid = await self._guarding().ask(f"start {json.dumps(request)}")
        await readiness.wait_until_ready(
            self._port,
            self.auth,
            alive=lambda: process.server_of(pid, layout) is not None,
            layout=layout,
        )
        layout.initialised.touch()

    async def _end_server(self, layout: Layout) -> None:
        """End a server whose guard was killed; except on Linux, such a server lives on."""
        server = process.server_of(self._pid, layout) if self._pid else None
        if server is not None:
            await process.end(server, layout)


def _new_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()


def remove_leftovers(parent: Path) -> None:
    """Remove folders below ``parent`` whose owner and guard were both killed."""
    now = time.time()
    for folder in parent.glob(f"{PREFIX}*"):
        try:
            old = now - (folder / "conf").stat().st_mtime > LEFTOVER_AGE_S
        except OSError:
            continue
        if old and process.find(Layout(folder.resolve())) is None:
            shutil.rmtree(folder, ignore_errors=True)
