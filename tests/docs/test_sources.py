"""The table of sources names tests and files that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "project" / "sources.md"
FILES = [path for path in ROOT.glob("tests/**/test_*.py") if path != Path(__file__)]
TESTS = {name for path in FILES for name in re.findall(r"def test_(\w+)", path.read_text("utf-8"))}
SECTIONS = ("000", "001", "002", "003", "004")


def rows() -> Iterator[list[str]]:
    """Cells of every row of every table."""
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("|---"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def named_tests() -> Iterator[str]:
    """Names of tests as the last cells say them: in full, without ``test_``, or begun with …."""
    for cells in rows():
        for name in re.findall(r"`(\w+…?)`", cells[-1]):
            if name.count("_") >= 3 or name.startswith("test_"):
                yield name.removeprefix("test_")


def test_every_test_that_it_names_exists() -> None:
    modules = {path.stem.removeprefix("test_") for path in FILES}
    named = set(named_tests())
    assert len(named) > 150
    begun = {name for name in named if name.endswith("…")}
    missing = named - begun - TESTS - modules
    missing |= {name for name in begun if not any(t.startswith(name[:-1]) for t in TESTS)}
    assert not missing


def test_every_file_that_it_names_exists() -> None:
    named = {
        name
        for cells in rows()
        for cell in cells
        for name in re.findall(r"`([a-z_]+/[\w/.-]+)`", cell)
    }
    assert len(named) > 25
    assert [n for n in named if not any((ROOT / top / n).exists() for top in ("", "memoria"))] == []


def test_every_source_has_a_section() -> None:
    titles = re.findall(r"^## (\d{3}): ", PAGE.read_text("utf-8"), re.MULTILINE)
    assert sorted(set(titles)) == list(SECTIONS)
