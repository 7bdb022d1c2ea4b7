"""Files and texts made to use up memory or time."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.environment import ROOT
from benchmarks.faults.hostile_files import FILES, HELD, command
from memoria.recall.seeds.questions import asks_much_the_same

#: The worst cases; ``scripts/faults`` gives each file to each of its readers.
WORST = [
    *((each, each.readers[0]) for each in FILES[:6]),
    *((FILES[4], reader) for reader in ("claude_code", "whatsapp", "gemini")),
    *(
        (each, each.readers[0])
        for each in FILES
        if each.name.startswith(("TOML", "a mail", "SQLite: a", "git", "an array with rows"))
        or "4 GB" in each.name
    ),
]


@pytest.mark.timeout(900)  # each file has limits of its own, of processor time, memory and time
def test_hostile_files_are_read_or_refused_within_bounds(tmp_path: Path) -> None:
    made = []
    for number, (hostile, reader) in enumerate(WORST):
        folder = tmp_path / str(number)
        folder.mkdir()
        made.append((reader, hostile.make(folder)))
    done = subprocess.run(command(made), cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(WORST)
    assert [line for line in lines if not line.startswith(HELD)] == [], done.stderr[-2_000:]


def test_a_long_row_of_question_marks_is_looked_through_once() -> None:
    asked, row = "Why did the big oven break on Monday?", "? " * 400_000
    assert not asks_much_the_same(f"{row}Why did the big oven break", asked)
    assert asks_much_the_same(f"Why did the big oven break{row}", asked)
