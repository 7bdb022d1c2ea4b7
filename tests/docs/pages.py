"""The pages as a reader has them, and what the command line's page says of a command's JSON."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "integrations").glob("*.md")),
]
COMMAND_LINE_PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
DOCTOR_PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
# Commands whose documents hold what another prints, too.
SHARED = {"recall": "explore"}


def documented_json(name: str) -> str:
    """What the page says of ``memoria NAME --json``: its row, its section, and what both refer to.

    Names of an example in JSON stand in quotes there; here all are in backticks.
    """
    section = _section(f"### `{name} --json`") + _section(f"### `{name} --json --full`")
    row = re.search(rf"^\| `{name}` \| .*", _section("## JSON"), re.MULTILINE)
    shared = documented_json(SHARED[name]) if name in SHARED else ""
    text = f"{row[0] if row else ''}\n{section}\n{shared}"
    return re.sub(r'"(\w+)":', r"`\1`", text)


def documented_row(name: str, section: str) -> str:
    """The row of a table that tells of a field, by itself or with others."""
    rows = _section(section).splitlines()
    (row,) = (row for row in rows if row.startswith("|") and f"`{name}`" in row.split("|")[1])
    return row


def _section(heading: str) -> str:
    """A section without those below it, or "" where there is none."""
    _, found, rest = COMMAND_LINE_PAGE.partition(f"\n{heading}\n")
    return re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0] if found else ""
