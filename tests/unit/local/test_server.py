from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from memoria._support.home import default_home
from memoria.agents.mcp.places import Place, announced
from memoria.downloads.lock import package_lock
from memoria.errors import ClosedError, ConfigError, LocalServerError
from memoria.local import NEO4J_VERSION, LocalNeo4j, ServerInfo, startup_cache
from memoria.local import process as local_process
from memoria.local.bulk import recover
from memoria.local.left_behind import left_behind, remove_left_behind
from memoria.local.password import (
    new_password,
    prepare,
    read_password,
    set_password,
)
from memoria.local.process import write_private
from memoria.local.readiness import (
    PortTakenError,
    free_port,
    port_becomes_free,
    port_is_free,
    startup_error,
    tail,
)
from memoria.local.settings import (
    COORDINATE,
    LTS_VERSION,
    SERVER_SETTINGS,
    Layout,
    Sizes,
    argument_file,
    configured_port,
    main_class,
    neo4j_conf,
    whole_version,
)
from memoria.local.state import locked
from tests.for_each import for_each

SIZES = Sizes(heap_mb=512, page_cache_mb=64)
ROOT = Path(__file__).parents[3]


def test_the_configuration_listens_on_loopback_with_authentication() -> None:
    lines = neo4j_conf(12345, SIZES, {}).splitlines()
    assert "server.bolt.listen_address=127.0.0.1:12345" in lines
    assert "dbms.security.auth_enabled=true" in lines
    assert "server.http.enabled=false" in lines
    assert "server.memory.pagecache.size=64m" in lines
    assert "db.transaction.monitor.check.interval=100ms" in lines


def test_a_server_of_an_older_version_gets_settings_and_a_program_that_it_knows() -> None:
    assert whole_version("5.26") == LTS_VERSION
    assert whole_version(NEO4J_VERSION) == NEO4J_VERSION
    assert "fleet" in neo4j_conf(1, SIZES, {})
    assert "fleet" not in neo4j_conf(1, SIZES, {}, LTS_VERSION)
    assert main_class(LTS_VERSION) != main_class()
    assert LocalNeo4j.ephemeral(version="5.26").version == LTS_VERSION
    for unknown in ("5.2", "4.4", "", "5.26."):
        with pytest.raises(ConfigError, match="no local server of version"):
            LocalNeo4j.ephemeral(version=unknown)


def test_extra_settings_win_and_cannot_smuggle_lines() -> None:
    text = neo4j_conf(1, SIZES, {"db.tx_log.rotation.size": "32m"})
    assert "db.tx_log.rotation.size=32m\n" in text
    assert "16m" not in text
    with pytest.raises(ConfigError):
        neo4j_conf(1, SIZES, {"a": "b\nc=d"})


def test_the_port_of_the_last_start_is_read_back(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert configured_port(layout) is None
    layout.conf.mkdir()
    (layout.conf / "neo4j.conf").write_text(neo4j_conf(12345, SIZES, {}))
    assert configured_port(layout) == 12345


def test_sizes_reject_what_cannot_work() -> None:
    with pytest.raises(ConfigError, match="heap_mb"):
        Sizes(heap_mb=100, page_cache_mb=64)
    with pytest.raises(ConfigError, match="page_cache_mb"):
        LocalNeo4j(page_cache_mb=1)


def test_paths_with_spaces_and_quotes_survive_the_argument_file() -> None:
    text = argument_file([Path('/a b/"c"/d.jar'), Path("/e.jar")], SIZES)
    assert f'"/a b/\\"c\\"/d.jar{os.pathsep}/e.jar"' in text
    assert "-Xmx512m\n" in text


def test_compose_file_has_the_same_version_and_settings() -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    assert f"image: neo4j:{NEO4J_VERSION}\n" in text
    for key, value in SERVER_SETTINGS.items():
        name = "NEO4J_" + key.replace("_", "__").replace(".", "_")
        assert f'      {name}: "{value}"\n' in text
    assert re.findall(r'- "([^"]*):\$\{', text) == ["127.0.0.1", "127.0.0.1"]


def test_home_is_named_by_the_environment_or_lies_in_the_users_data_directory() -> None:
    assert default_home({"MEMORIA_HOME": "/somewhere"}) == Path("/somewhere")
    assert default_home({"MEMORIA_HOME": "~/x"}) == Path("~/x").expanduser()
    assert default_home({"MEMORIA_HOME": " "}) == default_home({})
    assert default_home({}).name == "memoria"


def test_server_info_is_plain_json() -> None:
    info = ServerInfo(uri="bolt://x", user="neo4j", password_file=Path("/p"), pid=1, version="v")
    assert json.loads(json.dumps(info.to_dict())) == {
        "uri": "bolt://x",
        "user": "neo4j",
        "password_file": "/p",
        "pid": 1,
        "version": "v",
    }


def test_password_file_is_private_and_random(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    first = new_password(layout)
    assert stat.S_IMODE(layout.password.stat().st_mode) == 0o600
    assert read_password(layout) == first
    assert len(first) >= 32
    assert new_password(layout) != first
    with pytest.raises(FileExistsError):
        write_private(layout.password, "other")


def test_missing_or_empty_password_file_says_what_to_do(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    with pytest.raises(LocalServerError, match="Put the file back"):
        read_password(layout)
    layout.password.touch()
    with pytest.raises(LocalServerError, match="empty"):
        read_password(layout)


async def test_nothing_runs_in_an_empty_home(tmp_path: Path) -> None:
    server = LocalNeo4j(tmp_path / "none")
    assert await server.status() is None
    assert await server.stop() is False
    assert server.log_tail(10) == ""
    assert not (tmp_path / "none").exists()
    with pytest.raises(LocalServerError, match="memoria up"):
        _ = server.uri


async def test_a_reused_process_id_is_not_taken_for_the_server(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    own = psutil.Process()
    state = {"pid": own.pid, "created": own.create_time(), "port": 1, "version": NEO4J_VERSION}
    (tmp_path / "server" / "state.json").write_text(json.dumps(state))
    assert await LocalNeo4j(tmp_path).status() is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"pid": "x"}', '{"pid": 1}'])
async def test_a_broken_state_file_means_not_running(tmp_path: Path, text: str) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "state.json").write_text(text)
    assert await LocalNeo4j(tmp_path).status() is None


async def test_the_lock_of_a_home_is_exclusive_and_freed(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "server")
    async with locked(layout):
        with pytest.raises(LocalServerError, match="another process"):
            async with locked(layout, timeout_s=0.2):
                pass
    async with locked(layout):
        assert stat.S_IMODE(layout.root.stat().st_mode) == 0o700


async def test_the_lock_passes_on_what_goes_wrong_while_it_is_held(tmp_path: Path) -> None:
    with pytest.raises(ConnectionRefusedError):
        async with locked(Layout(tmp_path)):
            raise ConnectionRefusedError
    async with locked(Layout(tmp_path), timeout_s=0):
        pass


async def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(LocalServerError, match="can't use"):
        async with locked(Layout(file)):
            pass
    layout = Layout(tmp_path)
    (tmp_path / "conf").touch()
    with pytest.raises(LocalServerError, match="can't use"):
        local_process.write_configuration(layout, port=1, sizes=SIZES, extra={})
    with pytest.raises(LocalServerError, match="can't use"):
        await prepare(layout, [])


async def test_java_that_does_not_come_up_in_time_is_an_error_of_ours(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.conf.mkdir()
    with pytest.raises(LocalServerError, match=r"password .* within 0\.001 s"):
        await set_password(layout, [], "secret", timeout_s=0.001)
    assert not list(layout.conf.iterdir()), "the file with the password is removed"
    with pytest.raises(LocalServerError, match=r"start Java within 0\.001 s"):
        local_process.spawn_detached(layout, timeout_s=0.001)


async def test_a_taken_port_is_seen(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        assert not port_is_free(port)
        with pytest.raises(PortTakenError, match=str(port)):
            await LocalNeo4j(tmp_path, port=port)._choose_port()
    assert port_is_free(free_port())


async def test_a_port_that_is_given_back_soon_is_waited_for() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        asyncio.get_running_loop().call_later(0.3, holder.close)
        assert await port_becomes_free(port)


def test_too_little_memory_or_disk_is_refused_before_the_start(tmp_path: Path) -> None:
    with pytest.raises(LocalServerError, match="too little memory"):
        local_process.check_room(Layout(tmp_path), Sizes(heap_mb=1 << 30, page_cache_mb=8))


@for_each(
    "text, expected",
    [
        ("PortBindException: An error occurred: /127.0.0.1:7", "port 7 is taken"),
        ("java.net.BindException: Address already in use", "port 7 is taken"),
        ("Could not reserve enough space for 1KB object heap", "too little memory"),
        ("java.lang.OutOfMemoryError: Java heap space", "raise heap_mb"),
        ("java.io.IOException: No space left on device", "disk is full"),
        ("FileLockException: Lock file has been locked: /store_lock", "another server"),
        ("something strange", "something strange"),
        ("", "was it killed"),
    ],
)
def test_the_log_of_a_failed_start_is_explained(text: str, expected: str) -> None:
    assert expected in str(startup_error(text, 7))


def test_the_tail_ends_with_what_java_printed(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.log.parent.mkdir()
    layout.log.write_text("one\ntwo\n\n")
    layout.console.write_text("three\n")
    assert tail(layout, 2) == "two\nthree"
    assert tail(layout, 0) == ""


def test_folders_of_killed_owners_are_removed_once_they_are_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("memoria-neo4j-old", "memoria-neo4j-new", "other"):
        (tmp_path / name / "conf").mkdir(parents=True)
    for name in ("memoria-neo4j-old", "other"):
        os.utime(tmp_path / name / "conf", (1, 1))
    remove_left_behind(tmp_path / "home")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["memoria-neo4j-new", "other"]


def test_an_ephemeral_server_that_is_not_open_says_so() -> None:
    server = LocalNeo4j.ephemeral()
    with pytest.raises(ClosedError):
        _ = server.uri
    with pytest.raises(ClosedError):
        _ = server.pid


@contextmanager
def killed(code: str, home: Path) -> Iterator[str]:
    """Run a program that works on memoria's folder; kill it when the block ends."""
    command = [sys.executable, "-c", f"{code}\nprint('ready', flush=True); sys.stdin.read()"]
    with subprocess.Popen(
        [*command, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        yield child.stdout.readline()
        child.kill()


IMPORTS = """
import os, pathlib, sys
from memoria.local.bulk import import_folder
importing = import_folder(pathlib.Path(sys.argv[1]))
(importing.__enter__() / "memories.csv").write_text("a text")
"""
REPLACES = """
import pathlib, sys
from filelock import FileLock
from memoria.local import bulk
from memoria.local.settings import Layout
layout = Layout(pathlib.Path(sys.argv[1]) / "server")
lock = FileLock(layout.lock)
lock.acquire()
aside = bulk._set_aside(layout)
aside.__enter__()
for part in ("databases", "transactions"):
    (layout.data / part / "neo4j").mkdir()
    (layout.data / part / "neo4j" / "half").touch()
"""


def test_texts_of_a_killed_import_are_named_and_removed(tmp_path: Path) -> None:
    with killed(IMPORTS, tmp_path) as ready:
        assert ready == "ready\n"
        (folder,) = tmp_path.glob("import-*")
        remove_left_behind(tmp_path)
        assert not left_behind(tmp_path), "it is still at work"
        assert (folder.exists(), oct(folder.stat().st_mode & 0o777)) == (True, "0o700")
    (found,) = left_behind(tmp_path)
    assert (found.path, found.what) == (folder, "texts of a killed import")
    (tmp_path / f"import-{10**30}-of-somebody").mkdir()
    remove_left_behind(tmp_path)
    assert not folder.exists()
    assert not left_behind(tmp_path)


EXPORTS = """
import os, sys
from pathlib import Path
from memoria.cli.output import opened, vault
os.environ["MEMORIA_HOME"] = str(Path(sys.argv[1], "home"))
with opened(sys.argv[1] + "/a.jsonl.gz") as stream, vault(sys.argv[1] + "/notes") as add:
    stream.write(b"{}")
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_unfinished_files_of_a_killed_export_are_named_and_removed(tmp_path: Path) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    kept.touch()
    with killed(EXPORTS, tmp_path) as ready:
        assert ready == "ready\n"
        made = sorted(tmp_path.glob(".memoria-export-*"))
        assert not left_behind(home), "it is still at work"
        modes = [oct(each.stat().st_mode & 0o777) for each in (*made, *home.glob("*/*"))]
        assert sorted(modes) == ["0o600", "0o600", "0o600", "0o700"]
    found = left_behind(home)
    assert sorted(each.path for each in found if each.what == "part of an export") == made
    (other := home / "exporting" / "other.json").write_text(
        json.dumps({"path": str(kept), "pid": 2**22 + 1})
    )
    remove_left_behind(home)
    assert not left_behind(home)
    assert (kept.exists(), other.exists()) == (True, False)
    assert not any(each.exists() for each in made)


@pytest.mark.parametrize("complete", [False, True])
async def test_a_killed_import_leaves_the_old_database_or_the_complete_new_one(
    tmp_path: Path, complete: bool
) -> None:
    layout = Layout(tmp_path / "server")
    places = [layout.data / part / "neo4j" for part in ("databases", "transactions")]
    for place in places:
        place.mkdir(parents=True)
        (place / "old").touch()
    with killed(REPLACES, tmp_path) as ready:
        assert ready == "ready\n"
        assert not left_behind(tmp_path), "it is still at work"
    assert [each.path.name for each in left_behind(tmp_path)] == ["neo4j-replaced"] * 2
    if complete:
        layout.imported.touch()
    await recover(layout)
    expected = "half" if complete else "old"
    assert [sorted(file.name for file in place.iterdir()) for place in places] == [[expected]] * 2
    assert not left_behind(tmp_path)
    await recover(layout)
    assert all((place / expected).exists() for place in places)


async def test_a_killed_first_import_leaves_no_database(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "server")
    layout.root.mkdir()
    with killed(REPLACES, tmp_path) as ready:
        assert ready == "ready\n"
    await recover(layout)
    assert not [*layout.data.glob("*/*")]


def test_a_start_up_cache_is_used_once_it_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    layout = Layout(tmp_path / "a server")
    layout.root.mkdir()
    old = layout.root / "startup-of-another-java.aot"
    old.touch()
    unfinished = startup_cache.begin(layout)
    assert unfinished is not None
    assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600
    assert startup_cache.begin(layout) is None, "it is being made"
    assert startup_cache.options(layout) == []
    unfinished.write_bytes(b"classes")
    startup_cache.complete(unfinished)
    (cache,) = layout.startup_caches()
    assert cache.read_bytes() == b"classes"
    (option,) = startup_cache.options(layout)
    assert option == f"-XX:AOTCache={cache}"
    assert f'"{option}"\n' in argument_file([], SIZES, [option])
    assert startup_cache.begin(layout) is None, "it is there"
    for chosen in ("-Xss2m -XX:AOTCache=mine", "-Xshare:off"):
        monkeypatch.setenv("JDK_JAVA_OPTIONS", chosen)
        assert startup_cache.options(layout) == []


def test_a_start_up_cache_that_nobody_completed_is_named_and_removed(tmp_path: Path) -> None:
    server = tmp_path / "server"
    server.mkdir()
    (server / "startup-1.aot").touch()
    (part := server / "startup-2.new").touch()
    assert not left_behind(tmp_path), "it is still being made"
    os.utime(part, (0, 0))
    assert [each.path for each in left_behind(tmp_path)] == [part]
    remove_left_behind(tmp_path)
    assert [each.name for each in server.iterdir()] == ["startup-1.aot"]


def test_parts_of_downloads_are_named_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("M2_REPO", str(tmp_path / "cache"))
    jar = tmp_path / "cache" / package_lock().jars_of(COORDINATE)[0].path
    model = tmp_path / "models" / "a.onnx"
    parts = [each.with_name(f".{each.name}.ab12.part") for each in (jar, model)]
    for part in parts:
        part.parent.mkdir(parents=True)
        part.touch()
    assert not left_behind(tmp_path), "they are still being loaded"
    for part in parts:
        os.utime(part, (0, 0))
    assert sorted(each.path for each in left_behind(tmp_path)) == sorted(parts)
    remove_left_behind(tmp_path)
    assert not any(part.exists() for part in parts)


def test_the_file_of_a_killed_server_of_agents_is_named_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORIA_HOME", str(tmp_path))
    with announced(Place("127.0.0.1", 8765, "secret")):
        (file,) = tmp_path.glob("serving/*.json")
        assert not left_behind(tmp_path)
        assert oct(file.stat().st_mode & 0o777) == "0o600"
        content = json.loads(file.read_text())
        with subprocess.Popen([sys.executable, "-c", ""]) as ended:
            ended.wait()
        file.write_text(json.dumps({**content, "pid": 10**30}))
        assert not left_behind(tmp_path), "nobody can tell"
        file.write_text(json.dumps({**content, "pid": ended.pid}))
        assert [each.path for each in left_behind(tmp_path)] == [file]
        remove_left_behind(tmp_path)
        assert not file.exists()
