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


@pytest.mark.parametrize(
    ("word", "module"),
    [
        ("stats", "typing"),
        ("stats", "typer"),
        ("stats", "rich.console"),
        ("stats", "memoria.cli.scopes"),
        ("stats", "memoria.retriever"),
        ("--help", "rich.panel"),
    ],
)
def test_an_interrupt_is_one_line(word: str, module: str) -> None:
    code = INTERRUPTED.format(word=word, module=module)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    assert done.stderr == "memoria: interrupted\n"
