"""The commands of ``scripts/bench``: each name leads to a module that can be run."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks import cold
from benchmarks.__main__ import COMMANDS
from benchmarks.environment import OUT, ROOT, commit
from memoria.embed import OnnxEmbedder
from memoria.local import LocalNeo4j
from tests.for_each import for_each


@for_each("name", COMMANDS)
def test_every_command_is_a_module_with_a_main(name: str) -> None:
    module, _ = COMMANDS[name]
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    mains = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "main"]
    assert [[each.arg for each in main.args.args] for main in mains] == [["arguments"]]


def test_an_unknown_command_is_refused_by_the_names_that_there_are() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "recal"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no command 'recal'" in done.stderr
    for name in COMMANDS:
        assert name in done.stderr


async def test_a_start_that_is_not_done_in_time_counts_as_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cold, "_BUSY_S", 0.01)
    failed: list[str] = []
    await cold.restarted(LocalNeo4j(tmp_path), OnnxEmbedder(), 0, failed)
    assert failed == ["not done after 0.01 s"]
    await cold.twenty(LocalNeo4j(tmp_path), OnnxEmbedder(), "not started", failed)
    assert len(failed) == 2
    assert "0 busy: not done after 0.01 s" in capsys.readouterr().out


def test_a_run_names_its_commit_and_writes_outside_of_the_repository() -> None:
    assert re.fullmatch(r"unknown|[\w.-]+", commit())
    assert "build/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert OUT.relative_to(ROOT).parts[0] == "build"
