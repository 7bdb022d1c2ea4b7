"""Ctrl-C at any moment of a command: one line, and the exit code of an interrupt."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Importing this module has the effect of pressing Ctrl-C at that moment.
INTERRUPTED = """
import sys

class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed())
sys.argv = ["memoria", {word!r}]
from memoria.__main__ import main
main()
"""


LOADING, STARTED = "memoria: interrupted\n", "memoria: interrupted; run it again to continue\n"


@pytest.mark.parametrize(
    ("word", "module", "line"),
    [
        ("stats", "typing", LOADING),
        ("stats", "typer", LOADING),
        ("stats", "rich.console", LOADING),
        ("stats", "memoria.cli.scopes", LOADING),
        ("stats", "memoria.retriever", STARTED),
        ("--help", "rich.panel", STARTED),
    ],
)
def test_an_interrupt_is_one_line(word: str, module: str, line: str) -> None:
    code = INTERRUPTED.format(word=word, module=module)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    assert done.stderr == line
