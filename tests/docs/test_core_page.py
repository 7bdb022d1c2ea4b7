"""The page that leads a reader through the core names files that exist, and are few lines."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_core_is_five_files_of_less_than_900_lines() -> None:
    page = (ROOT / "docs/core.md").read_text(encoding="utf-8")
    files = re.findall(r"^\| \d \| `([^`]+)`", page, flags=re.MULTILINE)
    assert len(files) == 5
    lines = [len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in files]
    assert sum(lines) < 900
