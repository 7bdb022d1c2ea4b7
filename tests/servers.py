"""The server that the tests of a run share, also those of several workers.

In: the choice of ``--neo4j``. Out: an address and credentials. Touches: processes; or Docker.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
from contextlib import AsyncExitStack, suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from memoria._support.home import default_home
from memoria.downloads.jars import resolve_jars
from memoria.local import NEO4J_VERSION, LocalNeo4j
from memoria.local.settings import COORDINATE, SERVER_SETTINGS, USER, whole_version
from memoria.store import Target

if TYPE_CHECKING:
    import pytest
    from testcontainers.core.container import DockerContainer

BOLT_PORT = 7687
LOCAL = "local"
CONTAINER_SETTINGS = {
    **SERVER_SETTINGS,
    "server.memory.heap.max_size": "1024m",
    "server.memory.pagecache.size": "256m",
}
END, TARGET = "end", "target"

#: Host, port and key of a `SharedServer`: all that another process needs to ask it.
Line = tuple[str, int, bytes]


def container(password: str, **options: Any) -> DockerContainer:
    """Make the container of ``docker-compose.yml`` without starting it.

    It is ready when it says so in its log: the container class for Neo4j waits for the line about
    the HTTP interface, which is switched off here.
    """
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.wait_strategies import LogMessageWaitStrategy

    variables = {
        "NEO4J_" + key.replace("_", "__").replace(".", "_"): value
        for key, value in CONTAINER_SETTINGS.items()
    }
    variables["NEO4J_AUTH"] = f"{USER}/{password}"
    made = DockerContainer(f"neo4j:{NEO4J_VERSION}", env=variables, ports=[BOLT_PORT], **options)
    return made.waiting_for(LogMessageWaitStrategy(r"INFO  Started\.$"))


def is_local(choice: str) -> bool:
    """Tell whether ``--neo4j`` asks for throw-away servers: ``local``, or ``local:VERSION``."""
    return choice.partition(":")[0] == LOCAL


def local_version(choice: str) -> str:
    """Return the version of the throw-away servers; the newest one where none is named.

    Raises
    ------
    ConfigError
        memoria does not run that version by itself.
    """
    return whole_version(choice.partition(":")[2] or NEO4J_VERSION)


class SharedServer:
    """A server that starts when the first test asks for it, whichever worker runs that test.

    It belongs to the process that pytest was started as, which outlives its workers. However that
    process ends, an ephemeral server ends with it.

    Parameters
    ----------
    choice
        ``local``, ``local:VERSION`` or ``container``.
    """

    def __init__(self, choice: str) -> None:
        self._choice = choice
        key = secrets.token_bytes(16)
        self._listener = Listener(("127.0.0.1", 0), authkey=key)
        host, port = self._listener.address
        self.line: Line = (str(host), int(port), key)
        self._thread = Thread(target=self._run, name="shared server", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """End the server, if it was started."""
        _ask(self.line, END)
        self._thread.join()
        self._listener.close()

    def _run(self) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._answer())

    async def _answer(self) -> None:
        found: Target | str | None = None
        async with AsyncExitStack() as stack:
            asked = TARGET
            while asked != END:
                # A worker that is killed while it asks must not end the answering.
                with suppress(OSError, EOFError, AuthenticationError):
                    worker = await asyncio.to_thread(self._listener.accept)
                    with worker:
                        asked = await asyncio.to_thread(worker.recv)
                        if asked == TARGET:
                            found = found or await self._start(stack)
                            worker.send(found)

    async def _start(self, stack: AsyncExitStack) -> Target | str:
        """Start the server; where it is, or why it is nowhere."""
        try:
            if is_local(self._choice):
                local = LocalNeo4j.ephemeral(version=local_version(self._choice))
                server = await stack.enter_async_context(local)
                return Target(uri=server.uri, auth=server.auth, database="neo4j")
            password = secrets.token_urlsafe(16)
            started = stack.enter_context(container(password))
            host, port = started.get_container_host_ip(), started.get_exposed_port(BOLT_PORT)
            return Target(uri=f"bolt://{host}:{port}", auth=(USER, password), database="neo4j")
        except Exception as exc:  # noqa: BLE001 - every test that asks must fail with it
            return f"{type(exc).__name__}: {exc}"


def shared_target(line: Line) -> Target:
    """Ask for the server; it is started if nobody has asked before.

    Raises
    ------
    RuntimeError
        It can't be started.
    """
    answer = _ask(line, TARGET)
    if not isinstance(answer, Target):
        raise RuntimeError(f"the server for the tests does not start: {answer}")
    return answer


def _ask(line: Line, question: str) -> Any:
    host, port, key = line
    with Client((host, port), authkey=key) as connection:
        connection.send(question)
        if question == END:
            return None
        return connection.recv()


def home_with_jars(factory: pytest.TempPathFactory) -> Path:
    """Make a home that has noted already which jars are right: to hash them takes a second."""
    usual = default_home()
    resolve_jars(COORDINATE, home=usual)
    home = factory.mktemp("home")
    shutil.copytree(usual / "jars", home / "jars")
    return home
