"""Simulate a month of use on LoCoMo, and draw what becomes of the weights.

    scripts/bench month DATA_DIR [--conversation SCOPE] [--used]

DATA_DIR holds what `benchmarks.locomo` reads. Starts a throw-away Neo4j and loads one conversation.
On each of 30 days an agent asks 20 questions, favourites more often than others, uses the evidence
that it finds, and at night what was learned is consolidated. Every other question is never asked.
With ``--used`` nobody says what was useful: the agent cites it, as with `learn="used"`.
Prints a table and writes ``learning-month.svg``; the same with each run but for what an approximate
index finds.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import memoria
from benchmarks import locomo
from benchmarks.environment import OUT
from benchmarks.queries import text_of
from memoria.agents.kept import MOST_USED
from memoria.agents.using import learn_used
from memoria.local import LocalNeo4j

PICTURE = "learning-month.svg"
DAYS, QUESTIONS_A_DAY, SEED = 30, 20, 7
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
K = 10
DEADLINE_S = 60.0  # a busy machine changes no result

Question = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """The edges at the end of a day.

    Attributes
    ----------
    learned
        Weights that learning changed and that stand; sorted.
    mean, highest, highest_lif
        Of all weights of the graph; of the weights for leaky integrate and fire, 0 without any.
    made
        Edges that learning made and that stand.
    pruned
        Edges deleted that night.
    """

    learned: tuple[float, ...]
    mean: float
    highest: float
    highest_lif: float
    made: int
    pruned: int

    def share(self, share: float) -> float:
        """Return the learned weight that this share of them does not exceed."""
        return self.learned[round(share * (len(self.learned) - 1))] if self.learned else 0.0


class Month:
    """The simulation: one agent, one conversation."""

    def __init__(
        self,
        retriever: memoria.GraphRetriever,
        questions: Sequence[Question],
        *,
        by_use: bool = False,
    ) -> None:
        self._retriever = retriever
        self._by_use = by_use
        self._now = START
        self._learner = memoria.Learner(
            retriever.store, scope=retriever.scope, clock=lambda: self._now
        )
        self._asked, self._others = list(questions[::2]), list(questions[1::2])

    async def run(self) -> list[Day]:
        """Live through the month, and print what becomes of recall."""
        rng = random.Random(SEED)  # noqa: S311  # the same questions each time
        favour = [1.0 / place for place in range(1, len(self._asked) + 1)]
        await self._print_recall("before")
        days = [await self._look(0)]
        for _ in range(DAYS):
            for question in rng.choices(self._asked, favour, k=QUESTIONS_A_DAY):
                self._now += timedelta(minutes=20)
                await self._use(question)
            self._now += timedelta(days=1) - QUESTIONS_A_DAY * timedelta(minutes=20)
            report = await self._learner.consolidate()
            days.append(await self._look(report.pruned))
        await self._print_recall("after")
        return days

    async def _use(self, question: Question) -> None:
        found = await self._retriever.recall(question["question"], deadline_s=DEADLINE_S)
        reached = {path.ids[-1] for path in found.hits}
        reached |= {id_ for one in found.explorations for path in one.paths for id_ in path.ids}
        used = sorted(reached & set(question["gold"]))
        if self._by_use:
            await learn_used(self._learner, found.trace, used[:MOST_USED])
            return
        if used:
            await self._learner.reinforce(found.trace, used)
            await self._learner.feedback(found.trace, confirmed=used)
        await self._learner.co_activate(found.trace)

    async def _print_recall(self, when: str) -> None:
        for name, questions in (("asked", self._asked), ("never asked", self._others)):
            for way, config in (
                ("by relevance", self._retriever.config),
                ("by energy", replace(self._retriever.config, relevance=None)),
            ):
                shares = [await self._recall_at_k(question, config) for question in questions]
                value = sum(shares) / len(shares)
                print(f"{when}: recall@{K} {way} of {len(questions)} {name}: {value:.3f}")

    async def _recall_at_k(self, question: Question, config: memoria.RetrieverConfig) -> float:
        found = await self._retriever.recall(
            question["question"], config=config, deadline_s=DEADLINE_S
        )
        items = [one.memory.id for one in found.ranked if one.memory.kind == "Utterance"][:K]
        return len(set(items) & set(question["gold"])) / len(question["gold"])

    async def _look(self, pruned: int) -> Day:
        records, _, _ = await self._retriever.store.driver.execute_query(
            text_of("weights"), scope=self._retriever.scope
        )
        weights = [record["weight"] for record in records]
        return Day(
            learned=tuple(sorted(record["weight"] for record in records if record["learned"])),
            mean=sum(weights) / len(weights),
            highest=max(weights),
            highest_lif=max((record["lif_weight"] or 0.0 for record in records), default=0.0),
            made=sum(record["made"] or False for record in records),
            pruned=pruned,
        )


# The picture: size, margins and the room of one panel; pixels.
WIDTH, HEIGHT, LEFT, TOP, PANEL_HEIGHT, PANEL_WIDTH, GAP = 820, 356, 50, 44, 240, 330, 80
LOOKS = (
    ("card", "fill", "#ffffff", "#0d1117"),
    ("text", "fill", "#1f2328", "#e6edf3"),
    ("muted", "fill", "#59636e", "#9198a1"),
    ("axis", "stroke", "#d0d7de", "#3d444d"),
    ("a", "stroke", "#0969da", "#6cb6ff"),
    ("b", "stroke", "#bc4c00", "#f0a35e"),
    ("c", "stroke", "#1a7f37", "#56d364"),
    ("d", "stroke", "#8250df", "#b392f0"),
)
FONT = "font-family: system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"


def draw(days: Sequence[Day]) -> str:
    """Draw the weights day by day, and the numbers of edges."""
    weights = [
        ("a", "highest of all", [day.highest for day in days]),
        ("b", "learned: 90 %", [day.share(0.9) for day in days]),
        ("c", "learned: half", [day.share(0.5) for day in days]),
        ("d", "mean of all", [day.mean for day in days]),
    ]
    numbers = [
        ("a", "changed by use", [float(len(day.learned)) for day in days]),
        ("b", "of these made by it", [float(day.made) for day in days]),
    ]
    most = max(max(values) for _, _, values in numbers)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" style="{FONT}">',
            "<title>Weights in a simulated month of use</title>",
            _style(),
            f'<rect class="card" width="{WIDTH}" height="{HEIGHT}"/>',
            *_panel(LEFT, "weight of edges", 1.0, weights),
            *_panel(LEFT + PANEL_WIDTH + GAP, "number of edges", most, numbers),
            "</svg>",
            "",
        ]
    )


def _style() -> str:
    def rules(place: int) -> str:
        return " ".join(f".{look[0]} {{ {look[1]}: {look[place]} }}" for look in LOOKS)

    dark = f"@media (prefers-color-scheme: dark) {{ {rules(3)} }}"
    return f"<style>text {{ font-size: 12px }} path {{ fill: none }} {rules(2)} {dark}</style>"


def _panel(
    left: int, title: str, most: float, lines: Iterable[tuple[str, str, Sequence[float]]]
) -> list[str]:
    bottom = TOP + PANEL_HEIGHT

    def x(day: int) -> float:
        return left + PANEL_WIDTH * day / DAYS

    def y(value: float) -> float:
        return bottom - PANEL_HEIGHT * value / most

    parts = [f'<text class="text" x="{left}" y="{TOP - 20}">{title}</text>']
    for step in range(5):
        value = most * step / 4
        shown = f"{value:.2f}" if most <= 1 else f"{value:.0f}"
        parts.append(f'<path class="axis" d="M{left} {y(value):.1f}H{left + PANEL_WIDTH}"/>')
        parts.append(
            f'<text class="muted" text-anchor="end" x="{left - 6}" y="{y(value) + 4:.1f}">'
            f"{shown}</text>"
        )
    parts += [
        f'<text class="muted" text-anchor="middle" x="{x(day):.1f}" y="{bottom + 18}">'
        f"day {day}</text>"
        for day in range(0, DAYS + 1, 10)
    ]
    for place, (look, name, values) in enumerate(lines):
        points = " ".join(f"{x(day):.1f},{y(value):.1f}" for day, value in enumerate(values))
        parts.append(f'<path class="{look}" stroke-width="2" d="M{points}"/>')
        at, under = left + 160 * (place % 2), bottom + 38 + 18 * (place // 2)
        parts.append(f'<path class="{look}" stroke-width="2" d="M{at} {under}h14"/>')
        parts.append(f'<text class="muted" x="{at + 18}" y="{under + 4}">{name}</text>')
    return parts


def table(days: Sequence[Day]) -> str:
    """Return the days as a table in Markdown, every fifth."""
    rows = [
        "| day | edges changed by use | made by it | pruned that night | "
        "learned weights: half, 90 %, highest | mean of all | highest `lif_weight` |",
        "|---|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {n} | {len(day.learned)} | {day.made} | {day.pruned} | {day.share(0.5):.3f}, "
        f"{day.share(0.9):.3f}, {day.share(1.0):.3f} | {day.mean:.4f} | {day.highest_lif:.3f} |"
        for n, day in enumerate(days)
        if n % 5 == 0
    ]
    return "\n".join(rows)


async def simulate(folder: Path, scope: str | None, *, by_use: bool) -> list[Day]:
    """Load one conversation, and live through the month."""
    embedder = locomo.question_embedder(folder)
    asked = [question for question in locomo.questions(folder) if question["gold"]]
    scope = scope or min(locomo.scope_of(question["gold"][0]) for question in asked)
    questions = [entry for entry in asked if locomo.scope_of(entry["gold"][0]) == scope]
    async with LocalNeo4j.ephemeral() as server:
        async with memoria.connect(server.uri, server.auth, scope=scope) as bare:
            await memoria.apply_schema(bare.store, embedder=embedder)
            writer = memoria.GraphWriter(bare.store, scope=scope, kinds=locomo.KINDS)
            await writer.write(locomo.memories(folder)[scope], locomo.relations(folder)[scope])
        async with memoria.connect(
            server.uri, server.auth, scope=scope, embedder=embedder
        ) as retriever:
            print(f"{scope}: {len(questions)} questions")
            return await Month(retriever, questions, by_use=by_use).run()


def main(arguments: Sequence[str]) -> None:
    """Simulate, print, draw."""
    parser = argparse.ArgumentParser(prog="scripts/bench month", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--conversation", metavar="SCOPE", help="default: the first")
    parser.add_argument(
        "--out", type=Path, default=OUT, help="where to draw (default build/benchmarks)"
    )
    parser.add_argument("--used", action="store_true", help="learn from what the agent cites")
    options = parser.parse_args(arguments)
    days = asyncio.run(simulate(options.data, options.conversation, by_use=options.used))
    print(table(days))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / PICTURE).write_text(draw(days), encoding="utf-8")
    print(options.out / PICTURE)
