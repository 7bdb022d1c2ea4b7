"""Decisions about the process that asks, each with the other way: codec, loop, warm-up, turns.

In: a server, questions. Out: `Measured` levers. Reads only; empties the server's plan cache.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from memoria.retriever import GraphRetriever
from memoria.store import open_driver
from memoria.store.config import StoreConfig
from scripts.benchmark.cases import Question
from scripts.benchmark.contender import DisagreementError
from scripts.benchmark.figures import Measured, measured, percentile
from scripts.benchmark.processes import times_of_clients
from scripts.benchmark.queries import text_of
from scripts.benchmark.recalls import retriever_on
from scripts.benchmark.serve import DATABASE, Served

CONNECTIONS = 8
ROUNDS = 8


async def measure_clients(served: Served) -> list[Measured]:
    """Recall in processes that differ from memoria's in one thing.

    Raises
    ------
    DisagreementError
        Their answers differ.
    """
    others = [
        ({"plain": True}, "the driver's codec in Rust (extra `fast`)", "in Python"),
        ({"uvloop": True}, "asyncio's own event loop", "uvloop's"),
    ]
    (ours_ms, answers), *found = await times_of_clients(
        served.target.uri,
        served.target.auth,
        len(served.graph.source),
        [{}, *(client for client, _, _ in others)],
    )
    levers = []
    for (_, kept, against), (other_ms, other_answers) in zip(others, found, strict=True):
        if other_answers != answers:
            raise DisagreementError(f"{kept} / {against}: results differ")
        levers.append(measured(f"whole recall with {kept}", against, ours_ms, other_ms))
    return levers


async def measure_warm_up(served: Served, questions: Sequence[Question]) -> list[Measured]:
    """Connect to a server that has no plans yet, then recall at once or after a warm-up.

    The warm-up is a recall of another question: it sends every text that a recall sends.

    Raises
    ------
    DisagreementError
        The answers differ.
    """
    cold_ms, warm_ms, warm_up_ms = [], [], []
    answers = []
    asked, other = questions[0], questions[1]
    for number in range(2 * CONNECTIONS):
        await served.driver.execute_query(text_of("clear_query_caches"), database_=DATABASE)
        async with open_driver(served.target) as driver:
            retriever = retriever_on(driver, [asked, other])
            await retriever.server_facts()
            if number % 4 in (1, 2):  # neither is always the first of two
                warm_up_ms.append((await _recall(retriever, other))[0])
                took_ms, ids = await _recall(retriever, asked)
                warm_ms.append(took_ms)
            else:
                took_ms, ids = await _recall(retriever, asked)
                cold_ms.append(took_ms)
            answers.append(ids)
    if answers.count(answers[0]) != len(answers):
        raise DisagreementError("warm-up: results differ")
    kept = "first recall after connecting to a server without plans"
    return [
        measured(kept, "after a warm-up of all texts", cold_ms, warm_ms),
        measured(kept, "the warm-up itself", cold_ms, warm_up_ms),
    ]


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
        name: retriever_on(served.driver, questions, StoreConfig(max_recalls=limit))
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
    kept = f"{len(questions)} recalls at once, {limits['ours']} at work"
    return [
        measured(f"{kept}: until all are done", "all at work", all_ms["ours"], all_ms["all"]),
        measured(f"{kept}: until half are done", "all at work", half_ms["ours"], half_ms["all"]),
    ]


async def _recall(retriever: GraphRetriever, question: Question) -> tuple[float, list[str]]:
    started = time.perf_counter()
    recall = await retriever.recall(question.text, query_tags=question.tags, deadline_s=60)
    took_ms = 1_000 * (time.perf_counter() - started)
    return took_ms, [each.memory.id for each in recall.ranked]
