"""Ask the same questions of every strategy: what each answers, and how long it takes.

    scripts/bench strategies DATA_DIR [--questions 120]

DATA_DIR holds what `benchmarks.locomo` reads. Starts a throw-away Neo4j. The strategies take turns
on each question, in another order each time. Prints Markdown: times beside those of transfer
energy, and the answers to three questions, the first of their category.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import neo4j
import numpy as np

import memoria
from benchmarks import locomo
from memoria._support.progress import progress_bars
from memoria.recall.strategies import STRATEGIES

WARM_UP = 10
SHOWN_CATEGORIES = ("single-hop", "multi-hop", "temporal")
SHOWN = 3
WIDTH = 90
SAMPLES = 2_000

Answers = dict[str, list[memoria.Recall]]
Times = dict[str, list[float]]


async def ask_all(
    driver: neo4j.AsyncDriver, folder: Path, questions: list[dict[str, Any]]
) -> tuple[Answers, Times]:
    """Ask every question of every strategy; recalls, and seconds, by strategy."""
    embedder = locomo.question_embedder(folder)
    configs = {
        name: memoria.RetrieverConfig(strategy=strategy) for name, strategy in STRATEGIES.items()
    }
    answers: Answers = defaultdict(list)
    took_s: Times = defaultdict(list)
    with progress_bars() as progress:
        for number, question in enumerate(questions):
            retriever = memoria.GraphRetriever(
                driver, scope=question["conversation"], embedder=embedder
            )
            shift = number % len(STRATEGIES)
            names = [*STRATEGIES]
            for name in (*names[shift:], *names[:shift]):
                started = time.perf_counter()
                found = await retriever.recall(
                    question["question"], kinds=["Utterance"], config=configs[name]
                )
                took_s[name].append(time.perf_counter() - started)
                answers[name].append(found)
            progress("questions", number + 1, len(questions))
    return answers, took_s


def print_times(took_s: Times, answers: Answers, questions: list[dict[str, Any]]) -> None:
    """Print milliseconds, the ratio to transfer energy, and the share of the evidence found."""
    rng = np.random.default_rng(9)
    base = np.array(took_s["transfer"][WARM_UP:])
    picks = rng.integers(len(base), size=(SAMPLES, len(base)))
    print("\n| strategy | ms, p50 / p95 | x transfer, p50 (95 %) | evidence in ten |")
    print("|---|---|---|---|")
    for name in STRATEGIES:
        times = np.array(took_s[name][WARM_UP:])
        drawn = np.median(times[picks], axis=1) / np.median(base[picks], axis=1)
        low, high = np.percentile(drawn, [2.5, 97.5])
        p50, p95 = 1_000 * np.percentile(times, [50, 95])
        shares = [
            len(evidence & {entry.memory.id for entry in found.ranked[:10]}) / len(evidence)
            for found, question in zip(answers[name], questions, strict=True)
            if (evidence := set(question["gold"]))
        ]
        ratio = np.median(times) / np.median(base)
        print(
            f"| `{name}` | {p50:.0f} / {p95:.0f} | {ratio:.2f} ({low:.2f} to {high:.2f}) "
            f"| {np.mean(shares):.3f} |"
        )


def print_answers(answers: Answers, questions: list[dict[str, Any]]) -> None:
    """Print what each strategy finds first, for the first question of each shown category."""
    for category in SHOWN_CATEGORIES:
        asked = (n for n, each in enumerate(questions) if each["category"] == category)
        if (place := next(asked, None)) is None:
            continue  # so few questions were asked
        evidence = set(questions[place]["gold"])
        print(f"\n**{questions[place]['question']}** ({category})\n")
        print("| strategy | found first (+: evidence) | evidence at |")
        print("|---|---|---|")
        for name in STRATEGIES:
            ranked = [entry.memory for entry in answers[name][place].ranked]
            lines = [
                ("+ " if memory.id in evidence else "")
                + " ".join(memory.text.split())[:WIDTH].replace("|", "/")
                for memory in ranked[:SHOWN]
            ]
            places = [str(n) for n, memory in enumerate(ranked, 1) if memory.id in evidence]
            print(f"| `{name}` | {'<br>'.join(lines)} | {', '.join(places) or 'not found'} |")


def main(arguments: Sequence[str]) -> None:
    """Load, ask, print."""
    parser = argparse.ArgumentParser(prog="scripts/bench strategies", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--questions", type=int, default=120)
    options = parser.parse_args(arguments)
    fair = [each for each in locomo.questions(options.data) if each["category"] != "adversarial"]
    asked = fair[: options.questions + WARM_UP]

    async def run() -> tuple[Answers, Times]:
        async with locomo.served(options.data, locomo.question_embedder(options.data)) as driver:
            return await ask_all(driver, options.data, asked)

    answers, took_s = asyncio.run(run())
    print_times(took_s, answers, asked)
    print_answers(answers, asked)
