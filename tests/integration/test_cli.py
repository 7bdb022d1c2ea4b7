"""The command line as a user calls it: other processes, a home of its own, a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memoria.sample import sample_path
from memoria.store import Target

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def run(home: Path) -> Iterator[Run]:
    """Run memoria; the local server of the home is stopped at the end."""

    def run(*arguments: str, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "memoria", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
            env={**os.environ, "MEMORIA_HOME": str(home), "NO_COLOR": "1", **environ},
        )

    yield run
    run("down")


def test_status_without_a_server_says_so_and_exits_with_3(run: Run) -> None:
    done = run("status", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout) == {"running": False}


def test_command_without_any_database_says_how_to_get_one(run: Run) -> None:
    done = run("init")
    assert done.returncode == 1
    assert "memoria up" in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_address_is_one_line_and_exit_code_1(run: Run) -> None:
    for uri in ("bolt://127.0.0.1:1", "nonsense://x"):
        done = run("init", "--uri", uri)
        assert done.returncode == 1
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_local_server_from_up_to_down(run: Run, home: Path) -> None:
    up = run("up", "--json")
    assert up.returncode == 0, up.stderr
    info = json.loads(up.stdout)
    assert set(info) == {"uri", "user", "password_file", "pid", "version"}
    assert info["uri"].startswith("bolt://127.0.0.1:")
    assert Path(info["password_file"]).stat().st_mode & 0o777 == 0o600
    assert str(home) in info["password_file"]

    again = json.loads(run("up", "--json").stdout)
    assert again["pid"] == info["pid"], "a second up finds the first one's server"
    assert json.loads(run("status", "--json").stdout)["pid"] == info["pid"]
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
    again_facts = json.loads(
        run("ingest", str(sample_path()), "--scope", "cli", "--embedder", "none", "--json").stdout
    )
    assert again_facts["memories"] == facts["memories"]
    assert again_facts["memories_created"] == again_facts["relations_created"] == 0

    assert json.loads(run("down", "--json").stdout) == {"stopped": True}
    assert json.loads(run("down", "--json").stdout) == {"stopped": False}


def test_a_given_uri_wins_over_the_environment(run: Run, target: Target) -> None:
    user, password = target.auth  # type: ignore[misc]
    environ = {
        "NEO4J_URI": "bolt://127.0.0.1:1",
        "NEO4J_USERNAME": user,
        "NEO4J_PASSWORD": password,
    }
    assert run("init", "--embedder", "none", **environ).returncode == 1
    done = run("init", "--embedder", "none", "--uri", target.uri, **environ)
    assert done.returncode in (0, 1)
    assert "reached" not in done.stderr


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
