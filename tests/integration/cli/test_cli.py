"""The command line as a user calls it: a home of its own, a real server.

Commands that start and stop a server run in another process, as they do for a user.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from memoria._support.home import cache_folder
from memoria.cli.doctor import check_home
from memoria.downloads.lock import package_lock
from memoria.embed import DEFAULT_ONNX_MODEL
from memoria.evaluation.sample import sample_path
from memoria.graph.server_facts import probe
from memoria.local.settings import COORDINATE
from memoria.store import Store, Target
from tests.integration.cli.test_commands import in_process
from tests.servers import home_with_jars

SERVER_JARS = package_lock().jars_of(COORDINATE)

Run = Callable[..., subprocess.CompletedProcess[str]]
RunProgram = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).parents[3]
ABOUT_THE_SERVER = {"up", "down"}


class Down:
    """An embedder that is down."""

    name = "down"
    dimensions = 384

    async def embed_query(self, text: str) -> list[float]:
        raise ConnectionError(text)

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        raise ConnectionError(str(texts))


DOWN = Down()
BATCH = 1_000  # memories that an ingest without an embedder writes at a time


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return home_with_jars(tmp_path_factory)


@pytest.fixture(scope="module")
def environ(home: Path) -> dict[str, str]:
    return {**os.environ, "MEMORIA_HOME": str(home), "NO_COLOR": "1"}


@pytest.fixture(scope="module")
def run(environ: dict[str, str]) -> Iterator[Run]:
    """Run memoria; the local server of the home is stopped at the end."""

    def run(*arguments: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "memoria", *arguments]
        if arguments[0] not in ABOUT_THE_SERVER:
            here = {"MEMORIA_HOME": environ["MEMORIA_HOME"], "NO_COLOR": "1", **variables}
            done = in_process(*arguments, stdin=stdin, **here)
            assert isinstance(done.code, int)
            return subprocess.CompletedProcess(command, done.code, done.out, done.err)
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
            env={**environ, **variables},
        )

    yield run
    run("down")


@dataclass(frozen=True)
class Stick:
    """A folder with the right jars side by side, an empty cache, and no network."""

    folder: Path
    cache: Path

    @property
    def environ(self) -> dict[str, str]:
        return {"M2_REPO": str(self.cache), "MEMORIA_MAVEN_URL": "http://127.0.0.1:9"}


@pytest.fixture
def stick(tmp_path: Path) -> Stick:
    made = Stick(tmp_path / "stick", tmp_path / "m2")
    made.folder.mkdir()
    for jar in SERVER_JARS:
        (made.folder / jar.file_name).symlink_to(cache_folder() / jar.path)
    return made


@pytest.fixture
def run_program(run: Run, environ: dict[str, str]) -> RunProgram:
    """Set up a database with either program, without an embedder."""

    def run_program(
        program: str, *arguments: str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        if program == "memoria":
            return run("init", "--embedder", "none", *arguments, **variables)
        return subprocess.run(
            [sys.executable, str(ROOT / program), *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**environ, **variables},
        )

    return run_program


def test_status_without_a_server_says_so_and_exits_with_3(run: Run, home: Path) -> None:
    done = run("status", "--json")
    assert done.returncode == 3
    expected = {"running": False, "home": str(home), "disk_bytes": 0, "left_behind": []}
    assert json.loads(done.stdout) == expected
    words = run("status").stdout.splitlines()
    assert words == ["not running; start it with: memoria up", f"home {home}, 0 MB on disk"]


def test_status_counts_the_embedding_models_too(run: Run, tmp_path: Path) -> None:
    for name, size in (("models", 3), ("server", 4)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(bytes(size * 1_000_000))
    (tmp_path / "of-others").write_bytes(bytes(8_000_000))
    there = {"MEMORIA_HOME": str(tmp_path)}
    assert json.loads(run("status", "--json", **there).stdout)["disk_bytes"] == 7_000_000
    assert f"home {tmp_path}, 7 MB on disk" in run("status", **there).stdout


def test_status_and_doctor_name_what_a_killed_process_left(run: Run, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    folder = tmp_path / f"import-{ended.pid}-x"
    folder.mkdir()
    there = {"MEMORIA_HOME": str(tmp_path)}
    what = "texts of a killed import"
    status = json.loads(run("status", "--json", **there).stdout)
    assert status["left_behind"] == [{"path": str(folder), "what": what}]
    named = f"left by a killed process: {folder} ({what}); memoria up clears it"
    assert named in run("status", **there).stdout
    assert [finding.examples for finding in check_home(tmp_path)] == [(f"{folder}: {what}",)]


def test_up_refuses_a_wrong_jar_in_the_folder_that_it_is_given(run: Run, stick: Stick) -> None:
    jar = SERVER_JARS[7]
    wrong = stick.folder / jar.file_name
    wrong.unlink()
    wrong.write_bytes(b"PK" + bytes(jar.size - 2))
    done = run("up", "--from", str(stick.folder), **stick.environ)
    assert done.returncode == 1
    assert str(wrong) in done.stderr
    assert jar.sha256 in done.stderr
    assert "Traceback" not in done.stderr


def test_command_without_any_database_says_how_to_get_one(run: Run) -> None:
    done = run("init")
    assert done.returncode == 1
    assert "memoria up" in done.stderr
    assert "Traceback" not in done.stderr


def test_local_server_from_up_to_down(run: Run, home: Path, stick: Stick) -> None:
    up = run("up", "--from", str(stick.folder), "--json", **stick.environ)
    assert up.returncode == 0, up.stderr
    kept = (path.relative_to(stick.cache) for path in stick.cache.rglob("*") if path.is_file())
    assert sorted(kept) == sorted(Path(jar.path) for jar in SERVER_JARS)
    assert "starting Neo4j ..." in up.stderr
    info = json.loads(up.stdout)
    assert set(info) == {"uri", "user", "password_file", "pid", "version"}
    assert info["uri"].startswith("bolt://127.0.0.1:")
    assert Path(info["password_file"]).stat().st_mode & 0o777 == 0o600
    assert str(home) in info["password_file"]

    verified = json.loads(run("up", "--verify", "--json", **stick.environ).stdout)
    assert verified["pid"] == info["pid"], "a second up finds the first one's server"
    assert verified["verified_jars"] == len(SERVER_JARS)
    status = json.loads(run("status", "--json").stdout)
    assert (status["pid"], status["home"]) == (info["pid"], str(home))
    assert status["disk_bytes"] > 1_000_000
    assert (status["embedder"], status["scopes"]) == (None, 0)
    assert run("logs", "-n", "5").stdout.strip()

    made = run("init", "--embedder", "none", "--json")
    assert made.returncode == 0, made.stderr
    assert {"memory_scope_id", "memory_text", "memory_embedding"} <= set(
        json.loads(made.stdout)["created"]
    )
    assert json.loads(run("init", "--embedder", "none", "--json").stdout)["created"] == []

    written = run("ingest", str(sample_path()), "--scope", "cli", "--embedder", "none", "--json")
    assert written.returncode == 0, written.stderr
    facts = json.loads(written.stdout)
    assert facts["memories"] == facts["memories_created"] >= 250
    assert facts["relations"] >= 500

    # Others find the local server by themselves, too; test_commands shows that all look for it.
    assert run("export", "--scope", "cli").stdout.count("\n") > facts["memories"]

    assert json.loads(run("status", "--json").stdout)["pending_vectors"] == 0
    assert "pending" not in run("status").stdout
    assert run("remember", "The oven is hot.", "--embedder", f"{__name__}:DOWN").returncode == 0
    assert json.loads(run("status", "--json").stdout)["pending_vectors"] == 1
    assert "1 vector pending: memoria embed makes those of a scope" in run("status").stdout

    assert json.loads(run("down", "--json").stdout) == {"stopped": True}
    assert json.loads(run("down", "--json").stdout) == {"stopped": False}


async def test_a_given_uri_wins_over_the_environment(
    run: Run, target: Target, store: Store
) -> None:
    user, password = target.auth  # type: ignore[misc]
    environ = {
        "NEO4J_URI": "bolt://127.0.0.1:1",
        "NEO4J_USERNAME": user,
        "NEO4J_PASSWORD": password,
    }
    elsewhere = run("init", "--embedder", "none", **environ)
    assert elsewhere.returncode == 1
    assert "127.0.0.1:1" in elsewhere.stderr

    before = await probe(store)
    done = run("init", "--embedder", "none", "--uri", target.uri, "--json", **environ)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["version"], facts["edition"]) == (before.version, before.edition)
    assert facts["indexes"] == before.indexes
    assert facts["created"] == []
    assert await probe(store) == before, "without an embedder none is recorded"

    other = run("init", "--embedder", DEFAULT_ONNX_MODEL, "--uri", target.uri, **environ)
    assert other.returncode == 1
    assert repr(before.embedder) in other.stderr


@pytest.mark.parametrize("program", ["memoria", "scripts/setup_indexes.py"])
async def test_a_given_user_wins_over_the_environment(
    run_program: RunProgram, program: str, target: Target, tmp_path: Path, store: Store
) -> None:
    user, password = target.auth  # type: ignore[misc]
    embedder = (await probe(store)).embedder
    assert embedder is not None
    arguments = ["--uri", target.uri]
    right = {"NEO4J_USERNAME": "nobody", "NEO4J_PASSWORD": password}
    assert run_program(program, *arguments, "--user", user, **right).returncode == 0
    wrong = {"NEO4J_USERNAME": user, "NEO4J_PASSWORD": password}
    assert "refused" in run_program(program, *arguments, "--user", "nobody", **wrong).stderr

    secret = tmp_path / "secret"
    secret.write_text(password + "\n")
    from_file = run_program(program, *arguments, "--password-file", str(secret), **wrong)
    assert from_file.returncode == 0, from_file.stderr
    other = {"NEO4J_USERNAME": "nobody"}
    from_file = run_program(program, *arguments, "--password-file", str(secret), **other)
    assert "refused" in from_file.stderr


@pytest.mark.parametrize("program", ["memoria", "scripts/setup_indexes.py"])
def test_credentials_that_cannot_be_used_are_one_line(
    run_program: RunProgram, program: str, tmp_path: Path
) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for options, named in (
        (["--user", "ada"], "NEO4J_PASSWORD"),
        (["--password-file", str(tmp_path / "missing")], "missing"),
        (["--password-file", str(binary)], "binary"),
    ):
        done = run_program(program, "--uri", "bolt://127.0.0.1:1", *options)
        assert done.returncode == 1
        assert named in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr


async def test_an_interrupt_ends_an_ingest_that_waits_for_its_input(
    environ: dict[str, str], target: Target, store: Store, scope: str
) -> None:
    user, password = target.auth  # type: ignore[misc]
    environ = {**environ, "NEO4J_URI": target.uri}
    environ |= {"NEO4J_USERNAME": user, "NEO4J_PASSWORD": password}
    command = [sys.executable, "-m", "memoria", "ingest", "-", "--scope", scope]
    process = await asyncio.create_subprocess_exec(
        *command,
        "--embedder",
        "none",
        env=environ,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # Who runs the tests in the background has them, and all they start, ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdin is not None
    assert process.stderr is not None
    try:
        lines = [{"id": f"m{n}", "kind": "Event", "text": "t"} for n in range(BATCH)]
        process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        await process.stdin.drain()
        query = "MATCH (m:Memory {scope: $scope}) RETURN count(m)"
        async with asyncio.timeout(60):  # until the first batch stands: it waits for the second
            while (await store.driver.execute_query(query, scope=scope)).records[0][0] < BATCH:
                assert process.returncode is None
                await asyncio.sleep(0.05)
        await asyncio.sleep(0.2)
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(30):  # it would wait for more lines for ever
            status = await process.wait()
        errors = (await process.stderr.read()).decode()
    finally:
        if process.returncode is None:
            process.kill()
        process.stdin.close()
        await process.wait()
    assert status == 130
    assert errors.strip() == "memoria: interrupted"


def test_wrong_line_of_a_file_is_named_with_line_and_field(run: Run, target: Target) -> None:
    user, password = target.auth  # type: ignore[misc]
    environ = {"NEO4J_URI": target.uri, "NEO4J_USERNAME": user, "NEO4J_PASSWORD": password}
    lines = '{"id": "a", "kind": "Event", "text": "t"}\n{"id": "b", "kind": "Event"}\n'
    done = run("ingest", "-", "--scope", "cli-wrong", "--embedder", "none", stdin=lines, **environ)
    assert done.returncode == 1
    assert "2" in done.stderr
    assert "text" in done.stderr
    done = run(
        "ingest",
        "-",
        "--scope",
        "cli-wrong",
        "--embedder",
        "none",
        "--skip-invalid",
        "--json",
        stdin=lines,
        **environ,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["memories"] == 1
    assert json.loads(done.stdout)["skipped"] == 1
