"""Ctrl-C before a command has begun: one line, and the exit code of an interrupt."""

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
sys.argv = ["memoria", "stats"]
from memoria.__main__ import main
main()
"""


@pytest.mark.parametrize("module", ["typer", "rich.console", "memoria.cli", "memoria.cli.scopes"])
def test_an_interrupt_while_the_command_line_is_loaded_is_no_traceback(module: str) -> None:
    code = INTERRUPTED.format(module=module)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    assert done.stderr == "memoria: interrupted\n"
