"""The recording of the demo in the documentation is what the demo prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def masked(printed: str) -> str:
    """Without what differs from run to run: the port and the times."""
    return re.sub(r"(?<=127\.0\.0\.1:)\d+|\d+(?= ms\b)", "N", printed)


def test_recording_of_the_demo(home: Path) -> None:
    environ = {**os.environ, "MEMORIA_HOME": str(home), "NO_COLOR": "1"}
    environ.pop("FORCE_COLOR", None)
    done = subprocess.run(
        [sys.executable, "scripts/demo.py"],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    page = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8")
    [recording] = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert masked(done.stdout) == masked(recording)
