"""Let an agent's own use teach, and ask other questions: what `learn="used"` gives and costs.

    scripts/bench used DATASET_DIR ... [--limit 160]

DATASET_DIR is a folder in the format of `memoria evaluate`, prepared or raw, such as BEAM. Starts a
throw-away Neo4j. In each chat half of the questions are asked, and the answer cites the evidence
that its context holds; the other half is asked before and after. Then what was learned is undone,
and the halves change places. Prints Markdown: gains of recall at 10 in points, with intervals of
95 %: of the questions that taught, of the others, and of the others' evidence that nobody used.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from benchmarks.sets import measure_sets
from memoria import GraphRetriever, MemoryFilter, Recall, RetrieverConfig
from memoria._support.progress import progress_bars
from memoria.agents.kept import MOST_USED
from memoria.agents.using import learn_used
from memoria.embed import Embedder
from memoria.evaluation import Dataset, Question, bootstrap, load_dataset
from memoria.evaluation.dataset import folded
from memoria.evaluation.engine import ranking
from memoria.store import Store

K = 10
SEED = 0
ADVERSARIAL = "adversarial"


class Chat:
    """The questions of one scope, and the handle that asks them."""

    def __init__(self, retriever: GraphRetriever, dataset: Dataset, asked: Sequence[Question]):
        self._retriever = retriever
        self._dataset = dataset
        self._asked = sorted(asked, key=lambda question: question.id)
        random.Random(SEED).shuffle(self._asked)  # noqa: S311  # the same halves each time
        #: Gains in points, by whose they are.
        self.gains: dict[str, list[float]] = defaultdict(list)

    async def run(self) -> None:
        """Let each half of the questions teach once, and the other half be asked."""
        half = len(self._asked) // 2
        one, other = self._asked[:half], self._asked[half:]
        before = {question.id: await self._ask(question) for question in self._asked}
        for teaching, others in ((one, other), (other, one)):
            await self._lesson(teaching, others, before)

    async def _lesson(
        self, teaching: Sequence[Question], others: Sequence[Question], before: dict[str, Recall]
    ) -> None:
        since, used = datetime.now(UTC), set[str]()
        for question in teaching:
            found = before[question.id]
            cited = self._cited(found, question)
            if cited:
                await learn_used(self._retriever.learner(), found.trace, cited)
                used.update(self._dataset.items_of(question.scope, cited))
        for who, questions in (("asked", teaching), ("others", others)):
            for question in questions:
                first, now = self._best(before[question.id]), self._best(await self._ask(question))
                self._count(who, frozenset(question.gold), first, now)
                if who == "others":
                    self._count("unused", frozenset(question.gold) - used, first, now)
        undone = await self._retriever.learner().undo(since)
        if undone.kept:
            raise RuntimeError(f"{undone.kept} changes were not undone")

    def _count(
        self, who: str, evidence: frozenset[str], before: frozenset[str], after: frozenset[str]
    ) -> None:
        if evidence:
            gain = len(evidence & after) - len(evidence & before)
            self.gains[who].append(100 * gain / len(evidence))

    def _cited(self, found: Recall, question: Question) -> list[str]:
        """Return the evidence in the context: what a good answer would cite."""
        ids = [item.id for item in found.context.items if item.kind in self._dataset.item_kinds]
        items = self._dataset.items_of(question.scope, ids)
        cited = [id_ for id_, item in zip(ids, items, strict=True) if item in question.gold]
        return cited[:MOST_USED]

    def _best(self, found: Recall) -> frozenset[str]:
        ids = ranking(found, self._dataset.item_kinds)
        return frozenset(folded(self._dataset.items_of(self._retriever.scope, ids))[:K])

    async def _ask(self, question: Question) -> Recall:
        kinds = None if self._dataset.chats else self._dataset.item_kinds
        where = MemoryFilter(kinds=kinds, created_before=question.asked_at)
        return await self._retriever.recall(question.text, where=where, as_of=question.asked_at)


async def measure(store: Store, dataset: Dataset, embedder: Embedder, limit: int) -> None:
    """Load the chats of the first questions, let each of them teach, and print a row."""
    asked = [q for q in dataset.questions if q.category != ADVERSARIAL][:limit]
    by_scope: dict[str, list[Question]] = defaultdict(list)
    for question in asked:
        by_scope[question.scope].append(question)
    with progress_bars() as progress:
        await load_dataset(store, _of(dataset, by_scope), embedder=embedder, progress=progress)
    gains: dict[str, list[float]] = defaultdict(list)
    for scope, questions in by_scope.items():
        retriever = GraphRetriever(
            store, scope=scope, embedder=embedder, config=RetrieverConfig(deadline_s=60.0)
        )
        chat = Chat(retriever, dataset, questions)
        await chat.run()
        for who, found in chat.gains.items():
            gains[who] += found
    cells = [_interval(gains[who]) for who in ("asked", "others", "unused")]
    print(f"| {dataset.name} | {len(asked)} | {' | '.join(cells)} |", flush=True)


def _of(dataset: Dataset, scopes: Collection[str]) -> Dataset:
    return replace(
        dataset,
        memories={scope: dataset.memories[scope] for scope in scopes},
        relations={scope: dataset.relations[scope] for scope in scopes},
        chats={scope: chat for scope, chat in dataset.chats.items() if scope in scopes},
    )


def _interval(values: Sequence[float]) -> str:
    if not values:
        return "none"
    (found,) = bootstrap(np.array(values)[:, None])
    return f"{found.mean:+.1f} ({found.low:+.1f} to {found.high:+.1f})"


def main(arguments: Sequence[str]) -> None:
    """Measure each dataset, print."""
    measure_sets(
        arguments,
        name="used",
        description=__doc__,
        limit=160,
        columns=("set", "questions", "asked before", "others", "evidence that nobody used"),
        measure=measure,
    )
