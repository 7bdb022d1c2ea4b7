"""Teach a memory by half of the questions of LoCoMo, and ask the other half.

    scripts/bench taught DATA_DIR [--conversations SCOPE ...] [--set NAME=VALUE ...] [--embed]

DATA_DIR holds what `benchmarks.locomo` reads: vectors, too, but with ``--embed`` those of the
default embedder are made. Many of its questions share evidence. Starts a
throw-away Neo4j; in each conversation half of the questions teach: the evidence that a recall
found is reinforced and confirmed. The other half is asked, and compared with what it found before.
Then what was taught is undone, and the halves change places. The recall of evidence that was taught
should rise, and that of the rest should not fall, although a memory that moves up takes the place
of another one. The adversarial questions are left out: nothing in the conversation answers them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import memoria
from benchmarks import locomo
from memoria.evaluation.metrics import bootstrap
from memoria.store import Store

K = 10
SEED = 0
ADVERSARIAL = "adversarial"

Question = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question that was asked before and after others had taught.

    Attributes
    ----------
    question
        The question.
    taught
        The part of its evidence that other questions taught.
    before, after
        The first `K` memories of the two recalls.
    """

    question: Question
    taught: frozenset[str]
    before: frozenset[str]
    after: frozenset[str]

    @property
    def gold(self) -> frozenset[str]:
        """All of its evidence."""
        return frozenset(self.question["gold"])

    def gain(self, evidence: frozenset[str]) -> float:
        """Return by how much the recall of some evidence rose; points."""
        found = len(evidence & self.after) - len(evidence & self.before)
        return 100 * found / len(evidence)


class School:
    """One conversation, its questions, and the handle that teaches and asks."""

    def __init__(self, retriever: memoria.GraphRetriever, questions: Sequence[Question]) -> None:
        self._retriever = retriever
        self._learner = retriever.learner()
        shuffled = sorted(questions, key=lambda question: question["id"])
        random.Random(SEED).shuffle(shuffled)  # noqa: S311  # the same halves each time
        half = len(shuffled) // 2
        self._halves = shuffled[:half], shuffled[half:]

    async def run(self) -> list[Asked]:
        """Let each half teach once, and the other half answer."""
        one, other = self._halves
        before = {each["id"]: await self._ask(each) for each in (*one, *other)}
        return [
            *await self._lesson(one, other, before),
            *await self._lesson(other, one, before),
        ]

    async def _lesson(
        self,
        teaching: Sequence[Question],
        answering: Sequence[Question],
        before: dict[str, memoria.Recall],
    ) -> list[Asked]:
        """Teach by one half, ask the other half, and undo what was taught."""
        since = datetime.now(UTC)
        taught: set[str] = set()
        for question in teaching:
            taught.update(await self._teach(question, before[question["id"]]))
        asked = [
            Asked(
                question=question,
                taught=frozenset(taught & set(question["gold"])),
                before=best(before[question["id"]]),
                after=best(await self._ask(question)),
            )
            for question in answering
        ]
        undone = await self._learner.undo(since)
        if undone.kept:
            raise RuntimeError(f"{undone.kept} changes were not undone")
        return asked

    async def _teach(self, question: Question, found: memoria.Recall) -> list[str]:
        reached = {id_ for path in found.hits for id_ in path.ids}
        reached |= {id_ for one in found.explorations for path in one.paths for id_ in path.ids}
        used = sorted(reached & set(question["gold"]))
        if used:
            await self._learner.reinforce(found.trace, used)
            await self._learner.feedback(found.trace, confirmed=used)
        return used

    async def _ask(self, question: Question) -> memoria.Recall:
        return await self._retriever.recall(question["question"])


def best(found: memoria.Recall) -> frozenset[str]:
    """Return the first `K` utterances."""
    items = [one.memory.id for one in found.ranked if one.memory.kind == "Utterance"]
    return frozenset(items[:K])


async def ask_all(
    folder: Path,
    scopes: Sequence[str],
    history: memoria.HistoryConfig | None,
    embedder: memoria.Embedder,
) -> dict[str, list[Asked]]:
    """Teach and ask in every conversation."""
    by_scope: dict[str, list[Question]] = defaultdict(list)
    for question in locomo.questions(folder):
        scope = question["conversation"]
        wanted = not scopes or scope in scopes
        if question["gold"] and question["category"] != ADVERSARIAL and wanted:
            by_scope[scope].append(question)
    config = memoria.RetrieverConfig(history=history, deadline_s=60.0)
    async with locomo.served(folder, embedder) as driver:
        patient = memoria.StoreConfig(query_timeout_s=locomo.LOAD_TIMEOUT_S)
        store = Store(driver, database=locomo.DATABASE, config=patient)
        asked = {}
        for scope, questions in sorted(by_scope.items()):
            retriever = memoria.GraphRetriever(store, scope=scope, embedder=embedder, config=config)
            asked[scope] = await School(retriever, questions).run()
            print(f"{scope}: {len(questions)} questions", flush=True)
    return asked


def table(asked: dict[str, list[Asked]]) -> str:
    """Return the gains as a table in Markdown, with intervals of 95 %."""
    lines = [
        f"| gain in recall at {K}, points | questions | evidence taught | the rest | all |",
        "|---|---|---|---|---|",
    ]
    every = [each for of_scope in asked.values() for each in of_scope]
    for name, group in {**asked, "all": every}.items():
        cells = (
            _interval([each.gain(each.taught) for each in group if each.taught]),
            _interval([each.gain(rest) for each in group if (rest := each.gold - each.taught)]),
            _interval([each.gain(each.gold) for each in group]),
        )
        lines.append(f"| {name} | {len(group)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _interval(values: Sequence[float]) -> str:
    if not values:
        return "none"
    (found,) = bootstrap(np.array(values)[:, None])
    return f"{found.mean:+.1f} ({found.low:+.1f} to {found.high:+.1f})"


def _history(settings: Sequence[str]) -> memoria.HistoryConfig | None:
    """Read ``name=value``; ``none`` alone turns the past off."""
    if list(settings) == ["none"]:
        return None
    pairs = (each.partition("=") for each in settings)
    return memoria.HistoryConfig(**{name: json.loads(value) for name, _, value in pairs})


def main(arguments: Sequence[str]) -> None:
    """Teach, ask, print."""
    parser = argparse.ArgumentParser(prog="scripts/bench taught", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument(
        "--conversations", nargs="*", default=[], metavar="SCOPE", help="default: all"
    )
    parser.add_argument(
        "--set",
        dest="settings",
        nargs="*",
        default=[],
        metavar="NAME=VALUE",
        help="settings of HistoryConfig, or none",
    )
    parser.add_argument("--embed", action="store_true", help="with the default embedder")
    options = parser.parse_args(arguments)
    embedder = memoria.OnnxEmbedder() if options.embed else locomo.question_embedder(options.data)
    history = _history(options.settings)
    asked = asyncio.run(ask_all(options.data, options.conversations, history, embedder))
    print(table(asked))
