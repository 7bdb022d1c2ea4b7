"""Measure recalls of current facts, of outdated facts, and of facts that nobody stated.

    scripts/bench facts [remembered changes lives steady everyday] [--out FILE] [--against FILE]

Puts sets of ``benchmarks/data`` into scopes of their own, as users and agents would: messages by
the conversation writer, remembered texts by `GraphWriter.remember`, one after the other in time.
Asks each question with default settings. Prints, by category, how often the right statement is
first, within ten, above the outdated ones, and in a context of 200 tokens, next to plain vectors
over the same memories; and which older statements the context marks. ``--against`` compares with
the answers that an earlier run wrote with ``--out``. All intervals are paired.

MEMORIA_KEPT_VECTORS names a file that keeps the vectors of texts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from benchmarks.environment import ROOT, commit, load
from benchmarks.server import add_server, opened, parser_of
from benchmarks.vectors import KeptVectors, kept
from memoria import GraphRetriever, GraphWriter, MemoryFilter, RetrieverConfig, StoreConfig
from memoria.evaluation import bootstrap, prepare
from memoria.recall.context.tokens import estimate_tokens
from memoria.recall.probing import embed_examples
from memoria.remember import ConversationWriter
from memoria.remember.ids import message_id
from memoria.store import Store
from memoria.types import Message, Recall

DATA = ROOT / "benchmarks" / "data"
SETS = ("remembered", "changes", "lives", "steady", "everyday")
POOL, SMALL_TALK = 150, 300
BUDGET, MARKED_BUDGET, K = 200, 500, 10
# Far more than a recall takes: nothing here is to be left out because the machine is busy.
DEADLINE_S = 60.0
FIGURES = ("first", "within", "in_context", "in_order", "above", "empty")
TITLES = ("first", f"within {K}", f"in {BUDGET} tokens", "in order", "above outdated", "empty")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and its result.

    Attributes
    ----------
    first, within, in_context
        Whether the evidence (of a course, the oldest) is first; the shares of it within ten, and in
        the context.
    in_order
        Whether all of it is within ten, in order of time.
    above
        Whether it is within ten, and above every outdated statement.
    empty
        Whether the context is empty.
    marks
        (older, newer) of each mark in the context of 500 tokens, and whether it joins two
        statements about one fact that any question of the scope asks for.
    unmarked
        Outdated statements in that context together with the newest, but without a mark.
    """

    id: str
    category: str
    language: str
    first: float
    within: float
    in_context: float
    in_order: float
    above: float
    empty: float
    marks: Sequence[tuple[str, str, bool]] = ()
    unmarked: int = 0


def read(name: str, what: str) -> list[Row]:
    """Read a file of a set."""
    text = (DATA / name / f"{what}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def scopes_of(name: str) -> dict[str, list[Row]]:
    """Return the messages and remembered texts of each scope of a set, in order of time."""
    questions, rows = read(name, "questions"), read(name, "messages")
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["chat"], []).append(row)
    if name == "remembered":
        for chat, own in found.items():
            language = next(one["language"] for one in questions if one["chat"] == chat)
            own += others(language)
            own.sort(key=lambda row: datetime.fromisoformat(row["created_at"]))
    return found


def others(language: str) -> list[Row]:
    """Return what else a scope of `remembered` has: its own language first, then English."""
    asked = {chat: row["language"] for row in read("lives", "questions") for chat in [row["chat"]]}
    pool = [{**row, "remembered": True} for row in read("remembered", "pool")]
    talk = [
        {**row, "id": f"{row['chat']}-{row['id']}", "language": asked[row["chat"]]}
        for row in read("lives", "messages")
        if row["id"][0] in "am" and row["id"][1:].isdigit()
    ]
    chosen: list[Row] = []
    for rows, most in ((pool, POOL), (talk, SMALL_TALK)):
        wanted = [
            row for one in dict.fromkeys((language, "en")) for row in rows if row["language"] == one
        ]
        chosen += wanted[:most]
    return chosen


async def fill(
    store: Store, scope: str, rows: Sequence[Row], embedder: KeptVectors, *, own_ids: bool
) -> dict[str, str]:
    """Write a scope; return id of a memory -> id in the set."""
    ids: dict[str, str] = {}
    first = datetime.fromisoformat(rows[0]["created_at"])
    talk = ConversationWriter(store.patient(), scope=scope, embedder=embedder, clock=lambda: first)
    writer = GraphWriter(store.patient(), scope=scope, embedder=embedder)
    for remembered, group in groupby(rows, key=lambda row: row.get("remembered", False)):
        if not remembered:
            await _say(talk, [*group], ids)
            continue
        for row in group:
            options = {"kind": row["kind"]} if "kind" in row else {}
            done = await writer.remember(
                row["text"],
                id=row["id"] if own_ids else None,
                created_at=datetime.fromisoformat(row["created_at"]),
                **options,
            )
            ids.setdefault(done.id, row["id"])
    return ids


async def _say(writer: ConversationWriter, rows: Sequence[Row], ids: dict[str, str]) -> None:
    for session, group in groupby(rows, key=lambda row: row["session"]):
        messages = []
        for row in group:
            at = datetime.fromisoformat(row["created_at"])
            messages.append(
                Message(id=row["id"], role=row["role"], text=row["text"], created_at=at)
            )
            ids[message_id("", session, row["id"])] = row["id"]
        await writer.append(session, messages)


class Vectors:
    """Plain vectors over the memories of a scope, and a list of their texts as the context."""

    def __init__(self, rows: Sequence[Row], embedder: KeptVectors) -> None:
        self._rows, self._embedder = rows, embedder
        self._vectors: np.ndarray[Any, Any] | None = None

    async def ask(self, question: Row) -> tuple[list[str], list[str]]:
        """Return the ids of all memories, the nearest first, and of those in 200 tokens."""
        if self._vectors is None:
            made = await self._embedder.embed_documents([row["text"] for row in self._rows])
            self._vectors = np.array(made)
        cosines = self._vectors @ np.array(await self._embedder.embed_query(question["question"]))
        asked = question["asked_at"]
        rows = [self._rows[place] for place in np.argsort(-cosines, kind="stable")]
        if asked is not None:
            until = datetime.fromisoformat(asked)
            rows = [row for row in rows if datetime.fromisoformat(row["created_at"]) < until]
        packed, left = [], BUDGET
        for row in rows:
            left -= estimate_tokens(f"{row['text']}\n")
            if left < 0:
                break
            packed.append(row["id"])
        return [row["id"] for row in rows], packed


async def ask(
    retriever: GraphRetriever, question: Row, ids: Mapping[str, str], facts: Sequence[Sequence[str]]
) -> Asked:
    """Ask a question, once for each budget.

    Parameters
    ----------
    facts
        The statements about each fact of the scope, the oldest first.
    """
    asked = question["asked_at"] and datetime.fromisoformat(question["asked_at"])
    where = MemoryFilter(created_before=asked) if asked else None

    async def recall(budget: int) -> Recall:
        return await retriever.recall(
            question["question"], budget_tokens=budget, as_of=asked, where=where
        )

    found, larger = await recall(BUDGET), await recall(MARKED_BUDGET)
    packed = [ids.get(item.id, item.id) for item in found.context.items]
    judged = judge(question, [ids.get(one.id, one.id) for one in found.ranked], packed)
    marks, unmarked = marks_of(question, larger, ids, facts)
    return Asked(**judged, marks=marks, unmarked=unmarked)


def judge(question: Row, ranked: Sequence[str], packed: Sequence[str]) -> dict[str, Any]:
    """Judge a ranking and a context; figures about evidence are 0 where there is none."""
    evidence, older = question["evidence"], question.get("older", [])
    place = {id_: number for number, id_ in reversed([*enumerate(ranked)])}
    within = [id_ for id_ in evidence if place.get(id_, K) < K]
    best = min((place[id_] for id_ in evidence if id_ in place), default=K)
    all_there = bool(evidence) and len(within) == len(evidence)
    return {
        "id": question["id"],
        "category": question["category"],
        "language": question["language"],
        "first": float(bool(evidence) and ranked[:1] == evidence[:1]),
        "within": len(within) / max(len(evidence), 1),
        "in_context": len({*evidence} & {*packed}) / max(len(evidence), 1),
        "in_order": float(all_there and within == sorted(within, key=place.__getitem__)),
        "above": float(best < min([place[id_] for id_ in older if id_ in place], default=K)),
        "empty": float(not packed),
    }


def marks_of(
    question: Row, found: Recall, ids: Mapping[str, str], facts: Sequence[Sequence[str]]
) -> tuple[list[tuple[str, str, bool]], int]:
    """Return the marks of a context, and how many outdated statements in it lack one."""
    there = {item.id for item in found.context.items}
    marks = []
    for one in found.ranked:
        if one.newer is not None and one.id in there and one.newer in there:
            older, newer = ids.get(one.id, one.id), ids.get(one.newer, one.newer)
            joined = [one for one in facts if older in one and newer in one]
            right = any(one.index(older) < one.index(newer) for one in joined)
            marks.append((older, newer, right))
    marked = {older for older, _, _ in marks}
    shown = {ids.get(id_, id_) for id_ in there}
    outdated = shown & {*question.get("older", [])} if shown & {*question["evidence"]} else set()
    return marks, len(outdated - marked)


async def measure(
    store: Store, name: str, embedder: KeptVectors, *, own_ids: bool
) -> tuple[list[Asked], list[Asked]]:
    """Fill the scopes of a set and ask its questions: recalls, and plain vectors."""
    recalled, plain = [], []
    config = RetrieverConfig(deadline_s=DEADLINE_S)
    await embed_examples(embedder)
    for chat, rows in scopes_of(name).items():
        scope = f"facts-{uuid4().hex}"
        ids = await fill(store, scope, rows, embedder, own_ids=own_ids)
        retriever = GraphRetriever(store, scope=scope, embedder=embedder, config=config)
        vectors = Vectors(rows, embedder)
        questions = [row for row in read(name, "questions") if row["chat"] == chat]
        facts = [[*row.get("older", []), *row["evidence"]] for row in questions]
        for question in questions:
            recalled.append(await ask(retriever, question, ids, facts))
            plain.append(Asked(**judge(question, *await vectors.ask(question))))
        print(f"{name}: {chat}, {len(ids)} memories", flush=True)
    return recalled, plain


def show(title: str, asked: Sequence[Asked], others: Sequence[Asked]) -> None:
    """Print a table by category: each figure, before and now, and the difference."""
    print(f"\n{title}\n\n| | questions | {' | '.join(TITLES)} |")
    print("|---" * (len(FIGURES) + 2) + "|")
    for category in dict.fromkeys(one.category for one in asked):
        pairs = [
            (one, other)
            for one, other in zip(asked, others, strict=True)
            if one.category == category
        ]
        values = np.array([[_figures(one) for one in pair] for pair in pairs])
        change = bootstrap(values[:, 0] - values[:, 1])
        cells = [
            f"{100 * old:.1f} -> {100 * new:.1f} ({100 * each.low:+.1f} to {100 * each.high:+.1f})"
            for new, old, each in zip(*values.mean(axis=0), change, strict=True)
        ]
        print(f"| {category} | {len(pairs)} | {' | '.join(cells)} |")


def _figures(one: Asked) -> list[float]:
    return [getattr(one, name) for name in FIGURES]


def show_marks(asked: Iterable[Asked]) -> None:
    """Print how many marks are right, and how many outdated statements have none."""
    asked = [*asked]
    marks = [right for one in asked for _, _, right in one.marks]
    wrong = sum(any(not right for _, _, right in one.marks) for one in asked)
    print(
        f"\nmarks in {MARKED_BUDGET} tokens: {sum(marks)} of {len(marks)} join two statements of "
        f"one fact; {wrong} of {len(asked)} contexts have another one; "
        f"{sum(one.unmarked for one in asked)} outdated statements have none"
    )


async def run(options: argparse.Namespace) -> None:
    """Measure every set, and print."""
    embedder = kept()
    print(f"commit {commit()}, load {load()}, {embedder.name}")
    before = {}
    if options.against:
        for line in options.against.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            before[row["id"]] = Asked(**row)
    every: list[Asked] = []
    async with opened(options, StoreConfig()) as driver:
        store = Store(driver, database=options.database)
        await prepare(store, embedder)
        for name in options.sets or SETS:
            asked, plain = await measure(store, name, embedder, own_ids=options.own_ids)
            every += asked
            show(f"`{name}`: plain vectors -> recall", asked, plain)
            if before:
                show(f"`{name}`: before -> now", asked, [before[one.id] for one in asked])
            show_marks(asked)
    if options.out:
        lines = (json.dumps(asdict(one), ensure_ascii=False) for one in every)
        options.out.write_text("\n".join([*lines, ""]), encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = parser_of("facts", __doc__)
    add_server(parser)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"default: {', '.join(SETS)}")
    parser.add_argument("--own-ids", action="store_true", help="remember under ids of the set")
    parser.add_argument("--out", type=Path, help="write the answers, one a line")
    parser.add_argument("--against", type=Path, metavar="FILE", help="an earlier --out")
    asyncio.run(run(parser.parse_args(arguments)))
