"""What to run where an extra is missing: true in a clone and in an installation."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

from memoria._support.extras import install_command

ROOT = Path(__file__).parents[3]


def test_the_command_names_this_python_and_the_extra() -> None:
    assert shlex.split(install_command("view")) == [
        sys.executable,
        *("-m", "pip", "install", "memoria-graph[view]"),
    ]


def test_a_python_in_a_folder_with_a_space_is_quoted() -> None:
    command = install_command("mcp", python="my notes/bin/python")
    assert command == '"my notes/bin/python" -m pip install "memoria-graph[mcp]"'
    assert install_command("mcp", python="") == 'python -m pip install "memoria-graph[mcp]"'


def test_pip_finds_the_memoria_that_is_installed_and_asks_no_registry_for_it() -> None:
    """So that the command works before a release, and never takes a package of the same name."""
    command = [*shlex.split(install_command("view")), "--dry-run", "--no-index", "--no-deps"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "already satisfied: memoria-graph[view]" in done.stdout


def test_every_extra_that_a_message_names_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    code = "".join(path.read_text("utf-8") for path in (ROOT / "memoria").rglob("*.py"))
    named = set(re.findall(r"""(?:install_command|missing)\(['"]([\w-]+)['"]""", code))
    named |= set(re.findall(r"""needing\([^,()]+, "([\w-]+)"\)""", code))
    assert {"evaluation", "local", "mcp", "notes", "onnx", "view"} <= named
    assert named <= set(project["optional-dependencies"])


def test_no_message_writes_the_command_itself() -> None:
    for path in (ROOT / "memoria").rglob("*.py"):
        if path.name != "extras.py":
            assert "pip install" not in path.read_text("utf-8"), path
