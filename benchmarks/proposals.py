"""Measure which earlier memories a new text is said to replace, against those that it does replace.

    scripts/bench proposals [remembered changes lives steady everyday] [--talk]

Takes the statements of each scope of ``benchmarks/data`` in order of time, as if they were
remembered one by one, and compares `replaceable` with the facts that the questions of the set tell:
an earlier statement about the same fact is right. `remembered` has its pool of other texts before
them. ``--talk`` adds all other messages of the scope. Needs no server: the nearest memories are
exact.

MEMORIA_KEPT_VECTORS names a file that keeps the vectors of texts.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations

import numpy as np

from benchmarks.environment import commit
from benchmarks.facts import SETS, Row, read
from benchmarks.server import parser_of
from benchmarks.vectors import KeptVectors, kept
from memoria.remember.replacing import READ, replaceable
from memoria.types import MemoryNode

# Key of a count -> title of its column.
COLUMNS = {
    "texts": "texts",
    "changes": "of which change a fact",
    "proposals": "proposals",
    "right": "of them right",
    "found": "changes with a right one",
    "others": "other texts",
    "alarmed": "of them with a proposal",
}


def changed(name: str, chat: str) -> set[tuple[str, str]]:
    """Return (older, newer) for any two statements about one fact."""
    own = [row for row in read(name, "messages") if row["chat"] == chat]
    place = {row["id"]: number for number, row in enumerate(in_time(own))}
    facts = [
        sorted({*row.get("older", []), *row["evidence"]}, key=place.__getitem__)
        for row in read(name, "questions")
        if row["chat"] == chat and row["category"] in ("now", "before", "course")
    ]
    return {pair for fact in facts for pair in combinations(fact, 2)}


def in_time(rows: Sequence[Row]) -> list[Row]:
    """Return rows in order of time."""
    return sorted(rows, key=lambda row: datetime.fromisoformat(row["created_at"]))


def states(name: str, row: Row, named: set[str]) -> bool:
    """Tell whether a row is remembered here: a user's statement, not small talk."""
    if row.get("remembered", False) or name == "remembered":
        return bool(row.get("remembered", False))
    if name == "changes":
        return row["id"] in named
    if name == "lives" and row["id"][0] in "am" and row["id"][1:].isdigit():
        return False
    return bool(row["role"] == "user")


def scopes(name: str, *, talk: bool) -> Iterator[tuple[str, list[Row], set[str]]]:
    """Yield each scope: its name, all of its rows in time, and the ids of those remembered."""
    pool = [{**row, "role": "user"} for row in read(name, "pool")] if name == "remembered" else []
    for chat in dict.fromkeys(row["chat"] for row in read(name, "messages")):
        asked = [row for row in read(name, "questions") if row["chat"] == chat]
        named = {
            id_
            for row in asked
            for key in ("evidence", "older", "also")
            for id_ in row.get(key, [])
        }
        rows = in_time([row for row in read(name, "messages") if row["chat"] == chat])
        stated = {row["id"] for row in rows if states(name, row, named)}
        others = talk or name == "remembered"
        yield chat, [*pool, *(row for row in rows if others or row["id"] in stated)], stated


async def measure(name: str, embedder: KeptVectors, *, talk: bool) -> Counter[str]:
    """Count the proposals of a set."""
    found: Counter[str] = Counter()
    for chat, rows, stated in scopes(name, talk=talk):
        right = changed(name, chat)
        vectors = np.array(await embedder.embed_documents([row["text"] for row in rows]))
        nodes = [
            MemoryNode(
                id=row["id"], kind="Event", text=row["text"], metadata={"role": row.get("role")}
            )
            for row in rows
        ]
        for number, row in enumerate(rows):
            if row["id"] not in stated:
                continue
            cosines = vectors[:number] @ vectors[number]
            near = [
                (float(cosines[place]), nodes[place])
                for place in np.argsort(-cosines, kind="stable")[:READ]
            ]
            shown = [one.id for one in replaceable(row["text"], None, near)]
            older = {old for old, new in right if new == row["id"]}
            hits = len(older.intersection(shown))
            found.update(
                texts=1,
                changes=bool(older),
                proposals=len(shown),
                right=hits,
                found=bool(hits),
                others=not older,
                alarmed=bool(shown) and not older,
            )
    return found


async def run(options: argparse.Namespace) -> None:
    """Measure every set, and print."""
    embedder = kept()
    print(f"commit {commit()}, {embedder.name}\n\n| set | {' | '.join(COLUMNS.values())} |")
    print("|---" * (len(COLUMNS) + 1) + "|")
    for name in options.sets or SETS:
        found = await measure(name, embedder, talk=options.talk)
        print(f"| `{name}` | {' | '.join(str(found[each]) for each in COLUMNS)} |", flush=True)


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = parser_of("proposals", __doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"default: {', '.join(SETS)}")
    parser.add_argument("--talk", action="store_true", help="with all other messages")
    asyncio.run(run(parser.parse_args(arguments)))
