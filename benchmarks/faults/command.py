"""Try every fault, show what held, and write the page.

    scripts/faults --quick
    scripts/faults --only wrong-message --seed 7 --try 12
    scripts/faults --only soak programs --write-page
    scripts/faults --only soak programs --write-page --more

In: the command line. Out: ``build/faults/faults.json``, and a page next to it or in
``docs/project``. Where only some rows are tried, the record keeps the other rows, and so
does the page in ``docs/project``. Starts servers on the loopback, and nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import faulthandler
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from benchmarks.environment import ROOT, environment, load
from benchmarks.faults import (
    agents,
    cancelling,
    crashes,
    crowds,
    fences,
    files,
    floods,
    inputs,
    limits,
    programs,
    secrets,
    soak,
    tenants,
    values,
    wire,
)
from benchmarks.faults.page import again, markdown, read
from benchmarks.faults.table import DESCRIBED, Family, Row, Setting, tally
from memoria.local import LocalNeo4j

FAMILIES: tuple[Family, ...] = (
    *(values.FAMILY, wire.FAMILY, cancelling.FAMILY, crowds.FAMILY),
    *(inputs.FAMILY, files.FAMILY, fences.FAMILY, floods.FAMILY, agents.FAMILY),
    *(secrets.FAMILY, tenants.FAMILY),
    # The last one kills servers, in a quick run that of all the others.
    *(programs.FAMILY, limits.FAMILY, soak.FAMILY, crashes.FAMILY),
)
# What the figures of a record are of.
_VERSIONS = ("neo4j", "driver", "python", "cores")
KEYS = [row.key for family in FAMILIES for row in family.rows]
OUT = ROOT / "build" / "faults"
RECORD = "faults.json"
PAGE = ROOT / "docs" / "project" / "reliability.md"
# No try of a row begins later; seconds.
_QUICK_S, _FULL_S = 1.0, 1_200.0

Known = dict[str, dict[str, Any]]


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="scripts/faults", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few tries, late calls allowed")
    parser.add_argument("--only", nargs="+", choices=KEYS, metavar="ROW", help=", ".join(KEYS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tries", type=int, help="tries of each row, instead of its own number")
    parser.add_argument("--try", type=int, dest="number", help="the one try to repeat")
    parser.add_argument("--more", action="store_true", help="go on where the record of a row ends")
    parser.add_argument("--row-s", type=float, help="longest time of a row; seconds")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--write-page", action="store_true", help=f"write docs/project/{PAGE.name}")
    options = parser.parse_args(arguments)
    if options.quick and options.write_page:
        parser.error(f"{PAGE.name} says that no call is late, which --quick does not look at")
    return options


def numbers_of(row: Row, options: argparse.Namespace, known: Known) -> Sequence[int]:
    """Return the numbers of the tries of a row."""
    if options.number is not None:
        return [options.number]
    count = options.tries or (row.quick if options.quick else row.full)
    earlier = known.get(row.key)
    is_more = options.more and earlier is not None and earlier["fault"] == row.fault
    return range(earlier["tries"] if earlier is not None and is_more else 0, count)


async def _run(
    options: argparse.Namespace, known: Known, done: Callable[[dict[str, Any], int], None]
) -> None:
    """Try the rows that were asked for, and hand over each as soon as it is counted."""
    row_s = options.row_s or (_QUICK_S if options.quick else _FULL_S)
    async with LocalNeo4j.ephemeral() as server, AsyncExitStack() as stack:
        setting = Setting(server=server, seed=options.seed, quick=options.quick, stack=stack)
        for family in FAMILIES:
            rows = [
                (row, numbers)
                for row in family.rows
                if (not options.only or row.key in options.only)
                and (numbers := numbers_of(row, options, known))
            ]
            if not rows:
                continue
            async with family.opened(setting) as opened:
                for row, numbers in rows:
                    faulthandler.dump_traceback_later(row_s + 2 * row.try_s, exit=True)
                    found = await tally(
                        *(row, opened),
                        seed=options.seed,
                        numbers=numbers,
                        until=time.monotonic() + row_s,
                    )
                    faulthandler.cancel_dump_traceback_later()
                    done(found.to_dict(family.name), numbers[0])


def kept(options: argparse.Namespace) -> Known:
    """Return what earlier runs found, by key, if this one tries only some rows again, or goes on.

    A row that has become another one since is as one that was not tried.

    Raises
    ------
    SystemExit
        The record is of another seed, of a quick run, or of other versions, and would be lost.
    """
    path = PAGE if options.write_page else options.out / RECORD
    goes_on = options.only or options.more
    if not goes_on or options.number is not None or not path.exists():
        return {}
    text = path.read_text("utf-8")
    earlier = read(text) if options.write_page else json.loads(text)
    facts = environment()
    is_other = any(earlier["environment"][name] != facts[name] for name in _VERSIONS)
    if is_other or (earlier["seed"], earlier["quick"]) != (options.seed, options.quick):
        instead = "leave --write-page out" if options.write_page else "name a folder with --out"
        raise SystemExit(
            f"{path} is the record of another run: {instead}, or repeat its versions, and "
            f"--seed {earlier['seed']}{' and --quick' if earlier['quick'] else ''}"
        )
    today = {row.key: (row.fault, row.expected) for family in FAMILIES for row in family.rows}
    return {
        row["key"]: row
        for row in earlier["rows"]
        if today.get(row["key"]) == (row["fault"], row["expected"])
    }


def summed(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the tries of two runs, of which the second went on after the first."""
    commits = dict.fromkeys([*earlier["commit"].split("+"), later["commit"]])
    return {
        **later,
        "tries": earlier["tries"] + later["tries"],
        "held": earlier["held"] + later["held"],
        "took_s": round((earlier["took_s"] or 0) + later["took_s"], 1),
        "failures": [*earlier["failures"], *later["failures"]][:DESCRIBED],
        "commit": "+".join(commits),
    }


def _show(row: dict[str, Any], options: argparse.Namespace) -> None:
    took = f"{row['took_s']:g} s"
    print(f"{row['key']:<20}{row['held']:>6} of {row['tries']:<6}{took:>10}", flush=True)
    for number, wrong in row["failures"]:
        print(f"    {wrong}\n    {again(row['key'], options.seed, number, is_quick=options.quick)}")


def main(arguments: Sequence[str]) -> int:
    """Run, write after each row, and say whether every row held: 0, else 1."""
    options = parsed(arguments)
    for name in ("neo4j", "memoria"):  # each fault would be a line of the log
        logging.getLogger(name).setLevel(logging.CRITICAL)
    facts, began = environment(), time.monotonic()
    rows, failed = kept(options), False
    page = PAGE if options.write_page else options.out / PAGE.name

    def done(row: dict[str, Any], first: int) -> None:
        nonlocal failed
        failed |= row["held"] < row["tries"]
        _show(row, options)
        if options.number is not None:
            return  # one try is not a figure of its row
        row["commit"] = facts["commit"]
        rows[row["key"]] = summed(rows[row["key"]], row) if first else row
        found = [rows[key] for key in KEYS if key in rows]
        record = {
            "environment": {**facts, "load_end": load()},
            "seed": options.seed,
            "quick": options.quick,
            "rows": found,
            "left_out": [key for key in KEYS if key not in rows],
        }
        (options.out / RECORD).write_text(json.dumps(record, indent=1) + "\n", "utf-8")
        page.write_text(markdown(record), "utf-8")

    options.out.mkdir(parents=True, exist_ok=True)
    asyncio.run(_run(options, rows, done))
    print(f"{time.monotonic() - began:.0f} s" + ("" if options.number is not None else f", {page}"))
    return int(failed)
