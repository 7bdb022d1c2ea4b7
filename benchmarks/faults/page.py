"""The page of `docs/reliability.md`, out of the record of a run, and the record out of the page.

In: a record, or a page. Out: Markdown, or a record. Touches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from benchmarks.faults.catalogue import table

_HEAD = """\
# Reliability

What happens to memoria when the server, the wire, the caller or the input is broken.
`scripts/faults` breaks each of them on purpose, many times and at random places, and checks
after every try that what its row promises did hold. This page is made from a run; its figures are
counts.

```sh
scripts/faults --quick                          # few tries of each fault
scripts/faults                                  # all of them
scripts/faults --only reset --seed 7 --try 12   # one try once more
scripts/faults --only reset --write-page        # one row again, in its place on this page
scripts/faults --only reset --write-page --more # ... and only the tries that it has not had yet
```

It starts servers of its own on this machine, and reaches nothing else. Each try depends only on the
seed, its row and its number, so a failure can be repeated by the command that the run prints.
"""
_LEFT_OUT = "Not tried yet, and so without figures: "
_LAST = """\

## What it has found

Mended since, each with a test:

- An undo gave a memory that was forgotten and written anew the counts of the forgotten one.
- A connection that was dropped because the driver stood still counted as in use for good, until the
  pool had none left.
- A bookmark that is not a string, from a wrong message, went along with every later query, and the
  server refused each of them.
- After a wrong message, the next query on the same connection could get the rest of the earlier
  answer.
- A record with a number where a list is expected ended in a `TypeError`. Each query names the types
  of its columns now, and an answer with others is refused.
- After a wrong message that promised more records, a query could get the answer to another request
  (`Request.Invalid`), and failed; it is asked again on another connection now.
- An exploration that was still at work shortly after its deadline lost what it had found.

## What is not tried

- A real cluster: none runs on the machine where this is measured. The tests play three members in
  front of a real server ([at scale](scale.md#tests-of-a-cluster)).
- The query log of the server: the Community edition writes none. In its place the inputs are
  checked by the statements that the driver sends: each must be the text of one of memoria's files.
- A caller that reads slowly: what waits for it is bounded by the settings of an exploration, and
  a test counts that.
- The handshake of Bolt, before the first message: the driver reads it in one piece, and takes less
  for another protocol.

[What the driver does with wrong messages](project/driver-faults.md) has two faults of the driver
that memoria works around.
"""


def markdown(record: Mapping[str, Any]) -> str:
    """Return the page."""
    where = record["environment"]
    rows = record["rows"]
    tries, held = (sum(row[key] for row in rows) for key in ("tries", "held"))
    lines = [_HEAD]
    lines.append(
        f"{_commits(rows)}, Neo4j {where['neo4j']}, driver {where['driver']}, Python "
        f"{where['python']}, {where['cores']} cores, seed {record['seed']}"
        f"{', a quick run' if record['quick'] else ''}: {tries:,} tries, {held:,} held, "
        f"{tries - held:,} failed.\n"
    )
    for family, members in groupby(rows, key=lambda row: row["family"]):
        lines.append(f"\n## {family.capitalize()}\n")
        lines.append("| row | what is done | what must hold | tries | held | failed |")
        lines.append("|---|---|---|---|---|---|")
        lines += [
            f"| `{row['key']}` | {row['fault']} | {row['expected']} | {row['tries']:,} | "
            f"{row['held']:,} | {row['tries'] - row['held']:,} |"
            for row in members
        ]
    if left_out := record["left_out"]:
        names = ", ".join(f"`{key}`" for key in left_out)
        lines.append(f"\n{_LEFT_OUT}{names}.")
    lines += _failures(rows, record["seed"], is_quick=record["quick"])
    lines += ["", "## Where each fault is tried", "", *table()]
    return "\n".join(lines) + "\n" + _LAST


def _commits(rows: list[Mapping[str, Any]]) -> str:
    """Say on which commit each row was tried, or on which ones, joined by ``+``."""
    by_commit: dict[str, list[str]] = {}
    for row in rows:
        by_commit.setdefault(row["commit"], []).append(f"`{row['key']}`")
    first, *others = sorted(by_commit, key=lambda commit: -len(by_commit[commit]))
    again = [f", and {commit} for {', '.join(by_commit[commit])}" for commit in others]
    return f"Commit {first}{''.join(again)}"


def _failures(rows: list[Mapping[str, Any]], seed: int, *, is_quick: bool) -> list[str]:
    """Say what failed, and how to repeat it."""
    failed = [row for row in rows if row["failures"]]
    if not failed:
        return []
    lines = ["\n## What failed\n", "| row | the first failures | again |", "|---|---|---|"]
    for row in failed:
        for number, wrong in row["failures"]:
            said = " ".join(wrong.split()).replace("|", "\\|")[:200]
            command = again(row["key"], seed, number, is_quick=is_quick)
            lines.append(f"| `{row['key']}` | {said} | `{command}` |")
    return lines


def again(key: str, seed: int, number: int, *, is_quick: bool) -> str:
    """Return the command that repeats a try; a quick run lets calls be late, and has less data."""
    quick = " --quick" if is_quick else ""
    return f"scripts/faults{quick} --only {key} --seed {seed} --try {number}"


# What `markdown` writes: the line of the commits, the heading of a family, a row, and a failure.
_FACTS = re.compile(
    r"^Commit (?P<commits>.+), Neo4j (?P<neo4j>\S+), driver (?P<driver>\S+), "
    r"Python (?P<python>\S+), (?P<cores>\d+) cores, seed (?P<seed>\d+)(?P<quick>, a quick run)?: "
)
_COMMIT = re.compile(r"(?:and )?(\S+?)(?: for ((?:`[a-z-]+`(?:, )?)+))?(?:, |$)")
_ROW = re.compile(r"^\| `([a-z-]+)` \| (.+) \| (.+) \| ([\d,]+) \| ([\d,]+) \| [\d,]+ \|$")
_FAILED = re.compile(r"^\| `([a-z-]+)` \| (.+) \| `scripts/faults .* --try (\d+)` \|$")


def read(page: str) -> dict[str, Any]:
    """Return the record of a page, so that single rows may be tried again; without times."""
    rows: list[dict[str, Any]] = []
    record: dict[str, Any] = {}
    family, commits, left_out = "", {}, list[str]()
    for line in page.splitlines():
        if facts := _FACTS.match(line):
            found = facts.groupdict()
            commits = _commit_of(found.pop("commits"))
            seed, quick = int(found.pop("seed")), bool(found.pop("quick"))
            environment = {**found, "cores": int(found["cores"])}
            record = {"environment": environment, "seed": seed, "quick": quick}
        elif line.startswith("## "):
            family = line.removeprefix("## ").lower()
        elif row := _ROW.match(line):
            key, fault, expected, tries, held = row.groups()
            rows.append(
                {"family": family, "key": key, "fault": fault, "expected": expected}
                | {"tries": _number(tries), "held": _number(held), "took_s": None, "failures": []}
                | {"commit": commits.get(key, commits[""])}
            )
        elif line.startswith(_LEFT_OUT):
            left_out = re.findall(r"`([a-z-]+)`", line)
        elif failed := _FAILED.match(line):
            key, wrong, number = failed.groups()
            (of,) = (row for row in rows if row["key"] == key)
            of["failures"].append([int(number), wrong.replace("\\|", "|")])
    return {**record, "rows": rows, "left_out": left_out}


def _commit_of(text: str) -> dict[str, str]:
    """Return the commit of each row that has one of its own, and under "" that of all others."""
    found = {}
    for commit, keys in _COMMIT.findall(text):
        for key in re.findall(r"[a-z-]+", keys) or [""]:
            found[key] = commit
    return found


def _number(text: str) -> int:
    return int(text.replace(",", ""))
