"""Choices about the process that asks: the driver's codec, and how many recalls are at work.

In: a server, questions. Out: `Measured` levers. Reads only.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from benchmarks.levers.processes import times_of_codecs
from benchmarks.race.cases import Question
from benchmarks.race.contender import DisagreementError
from benchmarks.race.recalls import retriever_on
from benchmarks.race.serve import Served
from benchmarks.report.figures import Measured, measured, percentile
from memoria.retriever import GraphRetriever
from memoria.store.config import StoreConfig

ROUNDS = 8


async def measure_codecs(served: Served) -> Measured:
    """Recall in processes whose driver has its codec in Rust, or in Python.

    Raises
    ------
    DisagreementError
        Their answers differ.
    """
    (rust_ms, rust), (python_ms, python) = await times_of_codecs(
        served.target.uri, served.target.auth, len(served.graph.source)
    )
    if rust != python:
        raise DisagreementError("the driver's codec in Rust / in Python: results differ")
    kept = "whole recall with the driver's codec in Rust (extra `fast`)"
    return measured(kept, "in Python", rust_ms, python_ms)


async def measure_turns(served: Served, questions: Sequence[Question]) -> list[Measured]:
    """Ask all questions at once, with so many recalls at work as memoria lets, or all of them.

    Raises
    ------
    DisagreementError
        The answers differ.
    """
    limits = {"ours": StoreConfig().max_recalls, "all": len(questions)}
    all_ms: dict[str, list[float]] = {name: [] for name in limits}
    half_ms: dict[str, list[float]] = {name: [] for name in limits}
    answers = []
    retrievers = {
        name: retriever_on(served.driver, questions, store=StoreConfig(max_recalls=limit))
        for name, limit in limits.items()
    }
    for retriever in retrievers.values():
        await retriever.server_facts()
    for number in range(1 + ROUNDS):
        for name in list(limits)[:: 1 if number % 2 else -1]:
            started = time.perf_counter()
            found = await asyncio.gather(
                *(_recall(retrievers[name], question) for question in questions)
            )
            if number:  # the first round warms up
                all_ms[name].append(1_000 * (time.perf_counter() - started))
                half_ms[name].append(percentile([took_ms for took_ms, _ in found], 50))
            answers.append([ids for _, ids in found])
    if answers.count(answers[0]) != len(answers):
        raise DisagreementError("turns: results differ")
    kept = f"{len(questions)} recalls at once, {limits['ours']} at work (`max_recalls`)"
    return [
        measured(f"{kept}: until all are done", "all at work", all_ms["ours"], all_ms["all"]),
        measured(f"{kept}: until half are done", "all at work", half_ms["ours"], half_ms["all"]),
    ]


async def _recall(retriever: GraphRetriever, question: Question) -> tuple[float, list[str]]:
    started = time.perf_counter()
    recall = await retriever.recall(question.text, query_tags=question.tags, deadline_s=60)
    took_ms = 1_000 * (time.perf_counter() - started)
    return took_ms, [each.memory.id for each in recall.ranked]
