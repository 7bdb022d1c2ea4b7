"""The managed local Neo4j: one per folder, on this machine only, running until it is stopped.

In: memoria's folder, sizes, perhaps a port. Out: ``ServerInfo``.
Touches: files below ``home/server`` and ``home/jars``, processes, the internet for the download.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memoria._support.home import default_home
from memoria._support.progress import ProgressCallback
from memoria.downloads.jars import resolve_jars
from memoria.errors import LocalServerError
from memoria.local import bulk, password, process, readiness, settings, startup_cache
from memoria.local.bulk import ImportFiles
from memoria.local.ephemeral import EphemeralNeo4j
from memoria.local.left_behind import remove_left_behind
from memoria.local.readiness import PORT_ATTEMPTS, PortTakenError
from memoria.local.settings import COORDINATE, USER, Layout, Sizes
from memoria.local.state import ServerInfo, locked, read_state, uri_of, write_state


class LocalNeo4j:
    """The managed local Neo4j of one folder. It outlives the process that starts it.

    Parameters
    ----------
    home
        memoria's folder; by default ``MEMORIA_HOME``, else a folder in the user's data folder.
    heap_mb, page_cache_mb
        Memory limits; see ``Sizes``.
    port
        Port on the loopback address; by default the port of the last start, else a free port.
    extra_settings
        Further lines of ``neo4j.conf``; they override memoria's own.
    """

    def __init__(
        self,
        home: Path | None = None,
        *,
        heap_mb: int = 1024,
        page_cache_mb: int = 256,
        port: int | None = None,
        extra_settings: Mapping[str, str] | None = None,
    ) -> None:
        self._home = home
        self._sizes = Sizes(heap_mb=heap_mb, page_cache_mb=page_cache_mb)
        self._port = port
        self._extra = dict(extra_settings or {})

    @classmethod
    def ephemeral(cls, home: Path | None = None, **options: Any) -> EphemeralNeo4j:
        """Make a throw-away server for ``async with``; see ``EphemeralNeo4j`` for the options."""
        return EphemeralNeo4j(home, **options)

    @property
    def home(self) -> Path:
        """Folder of memoria."""
        return (self._home or default_home()).expanduser().resolve()

    @property
    def uri(self) -> str:
        """Bolt address of the running server.

        Raises
        ------
        LocalServerError
            The server does not run.
        """
        return self._running().uri

    @property
    def auth(self) -> tuple[str, str]:
        """User name and password of the running server.

        Raises
        ------
        LocalServerError
            The server does not run, or its password file can't be read.
        """
        return self._running().user, password.read_password(self._layout)

    def log_tail(self, lines: int = 50) -> str:
        """Return the last lines of the log; empty before the first start."""
        return readiness.tail(self._layout, lines)

    async def status(self) -> ServerInfo | None:
        """Describe the running server; None if no server runs, even if a state file is left."""
        return read_state(self._layout)

    async def start(self, *, progress: ProgressCallback | None = None) -> ServerInfo:
        """Start the server, or find the running one; return when it answers queries.

        Parameters
        ----------
        progress
            See ``memoria.downloads.jars.resolve_jars``; called in a worker thread.

        Raises
        ------
        ChecksumError
            A jar is not the one that memoria was made with; it was not used.
        LocalServerError
            There is no network for the first download, too little disk space or memory, the port
            is taken, or the server ended by itself. The message says what to do.

        Notes
        -----
        If another process is starting the server, this call waits for it. A server whose starting
        process was killed is found by its command line and taken over.
        """
        layout = self._layout
        remove_left_behind(self.home)
        running = read_state(layout)
        if running is None:
            process.java()
            jars = await asyncio.to_thread(
                resolve_jars, COORDINATE, home=self.home, progress=progress
            )
            async with locked(layout):
                await bulk.recover(layout)
                running = read_state(layout) or await self._adopt() or await self._launch(jars)
        if self._port is not None and running.uri != uri_of(self._port):
            raise LocalServerError(
                f"the local server already runs, at {running.uri}; stop it first (memoria down) "
                f"to start it on port {self._port}"
            )
        return running

    async def fetch(
        self,
        *,
        verify: bool = False,
        source: Path | None = None,
        progress: ProgressCallback | None = None,
    ) -> int:
        """Have the server's jars on this machine, and check them; nothing is started.

        Parameters
        ----------
        verify
            Whether to hash all jars, and not just those that changed since the last check.
        source
            Folder to take missing jars from instead of the network: a Maven cache, or any folder
            that has them under their names.
        progress
            As in `start`.

        Returns
        -------
        int
            How many jars the server has.

        Raises
        ------
        ChecksumError
            A jar is not the one that memoria was made with.
        LocalServerError
            A jar is missing, and ``source`` or the network does not have it.
        """
        jars = await asyncio.to_thread(
            resolve_jars,
            COORDINATE,
            home=self.home,
            verify=verify,
            source=source,
            progress=progress,
        )
        return len(jars)

    async def stop(self) -> bool:
        """Shut the server down; return False if no server was running."""
        layout = self._layout
        if not await asyncio.to_thread(layout.root.exists):
            return False
        async with locked(layout):
            server = process.find(layout)
            if server is not None:
                await process.end(server, layout)
            with process.using(layout.root):
                layout.state.unlink(missing_ok=True)
            return server is not None

    async def import_files(
        self,
        files: ImportFiles,
        *,
        overwrite: bool = False,
        progress: ProgressCallback | None = None,
    ) -> None:
        """Fill the database from files, many times faster than through a running server.

        Meant for a first load: the server must not run, and it must not have a database unless
        ``overwrite``. Make the constraints and indexes afterwards, with ``apply_schema``.

        Parameters
        ----------
        overwrite
            Whether to replace an existing database, whatever is in it.
        progress
            As in `start`; then called with ``"import"``, the part that is done, and the whole.

        Raises
        ------
        LocalServerError
            The server runs, has a database, or refuses a row; or as in `start`.
        """
        process.java()
        layout = self._layout
        jars = await asyncio.to_thread(resolve_jars, COORDINATE, home=self.home, progress=progress)
        async with locked(layout):
            await bulk.recover(layout)
            bulk.check_import(layout, overwrite=overwrite)
            await bulk.import_files(layout, jars, files, progress=progress)

    async def check_import(self, *, overwrite: bool = False) -> None:
        """Raise as `import_files` does if the server runs or has a database; needs no files."""
        async with locked(self._layout):
            await bulk.recover(self._layout)
            bulk.check_import(self._layout, overwrite=overwrite)

    @property
    def _layout(self) -> Layout:
        return Layout.of(self.home)

    def _running(self) -> ServerInfo:
        info = read_state(self._layout)
        if info is None:
            raise LocalServerError("the local server does not run; start it with: memoria up")
        return info

    async def _adopt(self) -> ServerInfo | None:
        """Take over a server that runs without a state file."""
        layout = self._layout
        server = process.find(layout)
        if server is None:
            return None
        port = settings.configured_port(layout)
        if port is None or not layout.password.exists():
            await process.end(server, layout)
            return None
        return await self._await_ready(server.pid, port)

    async def _launch(self, jars: list[Path]) -> ServerInfo:
        """Start the Java process, on another port if the chosen one was taken meanwhile."""
        layout = self._layout
        process.check_room(layout, self._sizes)
        with process.using(layout.root):
            layout.state.unlink(missing_ok=True)
        port = await self._choose_port()
        await password.prepare(layout, jars)
        for attempt in range(1, PORT_ATTEMPTS + 1):
            process.write_configuration(layout, port=port, sizes=self._sizes, extra=self._extra)
            process.write_arguments(layout, jars, self._sizes, startup_cache.options(layout))
            pid = await asyncio.to_thread(process.spawn_detached, layout)
            try:
                return await self._await_ready(pid, port)
            except PortTakenError:
                if self._port is not None or attempt == PORT_ATTEMPTS:
                    raise
                port = readiness.free_port()
            except BaseException:
                process.kill(pid, layout)
                raise
        raise LocalServerError("no free port found")

    async def _choose_port(self) -> int:
        if self._port is not None:
            if not await readiness.port_becomes_free(self._port):
                raise readiness.port_taken(self._port)
            return self._port
        last = settings.configured_port(self._layout)
        if last is not None and await readiness.port_becomes_free(last):
            return last
        return readiness.free_port()

    async def _await_ready(self, pid: int, port: int) -> ServerInfo:
        layout = self._layout
        await readiness.wait_until_ready(
            port,
            (USER, password.read_password(layout)),
            alive=lambda: process.server_of(pid, layout) is not None,
            layout=layout,
        )
        with process.using(layout.root):
            layout.initialised.touch()
        return write_state(layout, pid, port)
