"""Write what `scripts/demo.py` prints into `docs/demo.md`, in part; a test compares the two.

    .venv/bin/python scripts/record_demo.py

The demo runs on a server of its own, which has just started and ends with this script.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "demo.md"
LINE = f"{'─' * 80}\n"  # between the parts of the demo


def main() -> None:
    """Run the demo, and put its output in the place of the recording."""
    with tempfile.TemporaryDirectory(prefix="memoria-demo-") as home:
        environ = {**os.environ, "MEMORIA_HOME": home, "NO_COLOR": "1"}
        for name in ("FORCE_COLOR", "COLUMNS"):
            environ.pop(name, None)
        try:
            printed = _run(environ, "scripts/demo.py")
        finally:
            _run(environ, "-m", "memoria", "down")
    page = PAGE.read_text(encoding="utf-8")
    recording = f"```text\n{shown(printed)}```"
    page, count = re.subn(
        r"^```text\n.*?^```$", lambda _: recording, page, flags=re.MULTILINE | re.DOTALL
    )
    if count != 1:
        sys.exit(f"{PAGE} has {count} recordings; it must have one")
    PAGE.write_text(page, encoding="utf-8")


def shown(printed: str) -> str:
    """Return the parts that the page shows: the first question and the conversation."""
    start, first, *_, conversation = printed.split(LINE)
    return LINE.join([start, first, conversation])


def _run(environ: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603  # our own scripts
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


if __name__ == "__main__":
    main()
