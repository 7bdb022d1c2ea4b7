"""The page `docs/project/reliability.md`, made of the record of a run, and the record read back.

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

This page shows what memoria does when the server, the network, the caller or the input fails.
`scripts/faults` injects each fault many times, at random points, and checks the expected result
after every try. The page is generated from these runs, and its figures are numbers of tries.

```sh
scripts/faults --quick                          # a few tries of each fault
scripts/faults                                  # all tries
scripts/faults --only reset --seed 7 --try 12   # one try again
scripts/faults --only reset --write-page        # one row again, and its figures on this page
scripts/faults --only reset --write-page --more # only the tries that this page does not count yet
```

The command starts its own servers on this machine and connects to nothing else. A try depends only
on the seed, its row and its number, so each failure can be repeated with the command that the run
prints for it.
"""
_COMMITS = (
    "The last column of each table names the commit that the row was run on; there are several if "
    "its\ntries were made in several runs.\n"
)
_LEFT_OUT = "These rows have not been run yet: "
_LAST = """\

## Faults found and fixed

Each of these has a test:

- An undo gave a memory that had been forgotten and written again the counts of the forgotten one.
- A connection that was dropped while the driver was suspended was counted as in use forever, until
  the pool had none left.
- A bookmark that was not a string, from a wrong message, was sent with every later query, and the
  server refused each of them.
- After a wrong message, the next query on the same connection could receive the rest of the
  previous answer.
- A record with a number instead of a list ended in a `TypeError`. Each query now names the types of
  its columns, and an answer with other types is refused.
- After a wrong message that promised more records, a query could receive the answer to another
  request (`Request.Invalid`) and fail. It is now repeated on another connection.
- An exploration that was still running shortly after its deadline lost its paths.
- A number of thousands of digits in a mapping ended in a `ValueError`, a key of thousands of parts
  took minutes, and a note of several gigabytes in a Markdown export ended in a `MemoryError`.

## Not tested

- A real cluster: none runs on the machine where this is measured. The tests put three simulated
  members in front of a real server ([at scale](../scale.md#tests-of-a-cluster)).
- The server's query log: the Community edition does not write one. Instead, the inputs are checked
  by the statements that the driver sends: each must be the text of one of memoria's query files.
- A caller that reads slowly: the settings of an exploration limit how much is kept for the caller,
  and a test counts it.
- The Bolt handshake, before the first message: the driver reads it in one piece, and takes a
  shorter one for another protocol.

[How the driver handles wrong messages](driver-faults.md) describes two faults of the
driver that memoria works around.
"""


def markdown(record: Mapping[str, Any]) -> str:
    """Return the page."""
    where = record["environment"]
    rows = record["rows"]
    tries, held = (sum(row[key] for row in rows) for key in ("tries", "held"))
    lines = [_HEAD]
    lines.append(
        f"Neo4j {where['neo4j']}, driver {where['driver']}, Python {where['python']}, "
        f"{where['cores']} cores, seed {record['seed']}"
        f"{', a quick run' if record['quick'] else ''}: {tries:,} tries, {held:,} held, "
        f"{tries - held:,} failed.\n"
    )
    lines.append(_COMMITS)
    for family, members in groupby(rows, key=lambda row: row["family"]):
        lines.append(f"\n## {family.capitalize()}\n")
        lines.append("| row | fault | expected result | tries | held | failed | commit |")
        lines.append("|---|---|---|---|---|---|---|")
        lines += [
            f"| `{row['key']}` | {row['fault']} | {row['expected']} | {row['tries']:,} | "
            f"{row['held']:,} | {row['tries'] - row['held']:,} | "
            f"{row['commit'].replace('+', ', ')} |"
            for row in members
        ]
    if left_out := record["left_out"]:
        names = ", ".join(f"`{key}`" for key in left_out)
        lines.append(f"\n{_LEFT_OUT}{names}.")
    lines += _failures(rows, record["seed"], is_quick=record["quick"])
    lines += ["", "## Where each fault is tried", "", *table()]
    return "\n".join(lines) + "\n" + _LAST


def _failures(rows: list[Mapping[str, Any]], seed: int, *, is_quick: bool) -> list[str]:
    """Say what failed, and how to repeat it."""
    failed = [row for row in rows if row["failures"]]
    if not failed:
        return []
    lines = [
        "\n## Failures\n",
        "| row | first failures | command that repeats it |",
        "|---|---|---|",
    ]
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


# Lines that `markdown` writes: the line of the versions, a row, and a failure.
_FACTS = re.compile(
    r"^Neo4j (?P<neo4j>\S+), driver (?P<driver>\S+), "
    r"Python (?P<python>\S+), (?P<cores>\d+) cores, seed (?P<seed>\d+)(?P<quick>, a quick run)?: "
)
_ROW = re.compile(
    r"^\| `([a-z-]+)` \| (.+) \| (.+) \| ([\d,]+) \| ([\d,]+) \| [\d,]+ \| (\S.*) \|$"
)
_FAILED = re.compile(r"^\| `([a-z-]+)` \| (.+) \| `scripts/faults .* --try (\d+)` \|$")


def read(page: str) -> dict[str, Any]:
    """Return the record of a page, so that single rows may be tried again; without times."""
    rows: list[dict[str, Any]] = []
    record: dict[str, Any] = {}
    family, left_out = "", list[str]()
    for line in page.splitlines():
        if facts := _FACTS.match(line):
            found = facts.groupdict()
            seed, quick = int(found.pop("seed")), bool(found.pop("quick"))
            environment = {**found, "cores": int(found["cores"])}
            record = {"environment": environment, "seed": seed, "quick": quick}
        elif line.startswith("## "):
            family = line.removeprefix("## ").lower()
        elif row := _ROW.match(line):
            key, fault, expected, tries, held, commits = row.groups()
            rows.append(
                {"family": family, "key": key, "fault": fault, "expected": expected}
                | {"tries": _number(tries), "held": _number(held), "took_s": None, "failures": []}
                | {"commit": commits.replace(", ", "+")}
            )
        elif line.startswith(_LEFT_OUT):
            left_out = re.findall(r"`([a-z-]+)`", line)
        elif failed := _FAILED.match(line):
            key, wrong, number = failed.groups()
            (of,) = (row for row in rows if row["key"] == key)
            of["failures"].append([int(number), wrong.replace("\\|", "|")])
    return {**record, "rows": rows, "left_out": left_out}


def _number(text: str) -> int:
    return int(text.replace(",", ""))
