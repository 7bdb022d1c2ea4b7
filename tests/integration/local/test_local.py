"""The managed server on the real thing: it is started, killed and found again."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import neo4j
import psutil
import pytest

from memoria.errors import LocalServerError
from memoria.local import NEO4J_VERSION, EphemeralNeo4j, LocalNeo4j
from memoria.local import process as local_process
from memoria.local.settings import Layout
from tests.effort import effort
from tests.servers import home_with_jars

# How long a run of the tests may make its cache; seconds.
CACHE_S = 300

PARENT = """
import asyncio, sys
from pathlib import Path
from memoria.local import LocalNeo4j
async def main():
    async with LocalNeo4j.ephemeral(Path(sys.argv[1]), heap_mb=256, page_cache_mb=16) as server:
        print(server.pid, server.folder, flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""

START = """
import asyncio, sys
from pathlib import Path
from memoria.local import LocalNeo4j
asyncio.run(LocalNeo4j(Path(sys.argv[1]), heap_mb=256, page_cache_mb=16).start())
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return home_with_jars(tmp_path_factory)


def small(home: Path, *, port: int | None = None) -> LocalNeo4j:
    return LocalNeo4j(home, heap_mb=256, page_cache_mb=16, port=port)


async def ask(server: LocalNeo4j | EphemeralNeo4j, text: neo4j.Query) -> list[object]:
    async with neo4j.AsyncGraphDatabase.driver(server.uri, auth=server.auth) as driver:
        result = await driver.execute_query(text, database_="neo4j")
        return [record.value() for record in result.records]


WRITE = neo4j.Query("CREATE (n:Kept {value: 42}) RETURN n.value")
READ = neo4j.Query("MATCH (n:Kept) RETURN n.value")


def run_python(code: str, home: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, str(home)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def is_gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


async def eventually(condition: Callable[[], bool], *, timeout_s: float = 60) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - another process's doing
            await asyncio.sleep(0.05)


async def test_a_managed_server_lives_through_kills_and_second_starts(
    home: Path,
) -> None:
    server = small(home)
    try:
        first, second = await asyncio.gather(server.start(), small(home).start())
        assert first == second == await server.status()
        assert first.version == NEO4J_VERSION
        assert first.uri.startswith("bolt://127.0.0.1:")
        assert stat.S_IMODE(first.password_file.stat().st_mode) == 0o600
        assert server.auth[1] not in " ".join(psutil.Process(first.pid).cmdline())
        assert "Started" in server.log_tail(20)
        assert await ask(server, WRITE) == [42]

        with pytest.raises(LocalServerError, match="already runs"):
            await small(home, port=int(first.uri.rpartition(":")[2]) - 1).start()

        (home / "server" / "state.json").unlink()  # as if its starter had been killed
        assert await server.status() is None
        assert await server.start() == first

        os.kill(first.pid, signal.SIGKILL)
        await eventually(lambda: is_gone(first.pid))
        assert await server.status() is None
        with run_python(START, home) as starter:
            try:
                await eventually(lambda: local_process.find(server._layout) is not None)
            finally:
                starter.kill()
        assert await server.status() is None
        left = local_process.find(server._layout)
        again = await server.start()
        assert left is not None
        assert again.pid == left.pid, "the start takes over the server of the killed starter"
        assert (again.uri, again.pid != first.pid) == (first.uri, True)
        assert await ask(server, READ) == [42]

        assert await server.stop() is True
        assert is_gone(again.pid)
        assert await server.status() is None
        assert await server.stop() is False
    finally:
        await server.stop()


async def test_a_taken_port_and_a_refused_setting_are_explained(home: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(LocalServerError, match=f"port {port} is taken"):
            await small(home, port=port).start()
    odd = LocalNeo4j(home, heap_mb=256, page_cache_mb=16, extra_settings={"no.such.key": "1"})
    with pytest.raises(LocalServerError, match=r"no\.such\.key"):
        await odd.start()
    assert local_process.find(odd._layout) is None


async def test_a_lost_password_file_is_not_replaced_silently(home: Path) -> None:
    server = small(home)
    password_file = Layout(home / "server").password
    if not password_file.exists():  # another test has started this server already, or none has
        await server.start()
        await server.stop()
    password_file.rename(home / "kept")
    try:
        with pytest.raises(LocalServerError, match="Put the file back"):
            await server.start()
        assert not password_file.exists()
    finally:
        (home / "kept").rename(password_file)


async def test_an_ephemeral_server_comes_back_after_kills_and_leaves_nothing(home: Path) -> None:
    async with LocalNeo4j.ephemeral(home, heap_mb=256, page_cache_mb=16) as server:
        folder, uri = server.folder, server.uri
        assert await ask(server, WRITE) == [42]
        # The tests of a restart kill a server as well; its guard is killed here alone.
        for victim in ("guard_pid", "pid", "guard_pid")[: effort().kills]:
            os.kill(getattr(server, victim), signal.SIGKILL)
            await server.restart()
            assert (server.uri, await ask(server, READ)) == (uri, [42])
        pid = server.pid
    assert is_gone(pid)
    assert not folder.exists()


async def test_an_ephemeral_server_dies_with_its_killed_parent(home: Path) -> None:
    with run_python(PARENT, home) as parent:
        try:
            assert parent.stdout is not None
            words = (await asyncio.to_thread(parent.stdout.readline)).split()
            pid, folder = int(words[0]), Path(words[1])
            assert not is_gone(pid)
        finally:
            parent.kill()
    await eventually(lambda: is_gone(pid) and not folder.exists())


async def test_a_server_can_start_from_the_cache_that_another_has_written(
    home: Path, request: pytest.FixtureRequest
) -> None:
    """The cache of the tests, which was made as a user's is: see ``tests/java.py``."""
    kept = getattr(request.config, "cache", None)
    if kept is None:
        pytest.skip("no folder for the cache: pytest runs without its cacheprovider")
    cache = kept.mkdir("java") / "classes.aot"
    for _ in range(CACHE_S):
        if cache.exists():
            break
        await asyncio.sleep(1.0)
    assert cache.exists(), f"the cache of the tests was not made within {CACHE_S} s"
    required = [f"-XX:AOTCache={cache}", "-XX:AOTMode=on"]  # Java ends if it does not fit
    async with LocalNeo4j.ephemeral(
        home, heap_mb=256, page_cache_mb=16, java_options=required
    ) as server:
        assert await ask(server, WRITE) == [42]
