"""Whole recalls in processes of their own, in turns: the driver's codec in Rust, or in Python.

In: a server. Out: times. A process has the codec that was there when it imported the driver, so
each codec gets processes of its own. Run as a module, this file is such a process, whose task comes
in by the standard input; therefore nothing here imports the driver at the top.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

ROUNDS = 3
CASES = 40
WARM_UP = 10

Times = tuple[list[float], list[list[str]]]


async def times_of_codecs(uri: str, auth: Any, edges: int) -> tuple[Times, Times]:
    """Recall the same questions with each codec, in turns.

    Parameters
    ----------
    edges
        Of the graph for whole recalls that the server holds.

    Returns
    -------
    tuple
        Of Rust, then of Python: the ms of each recall, and the ids that it returned in their order.
    """
    found: tuple[Times, Times] = ([], []), ([], [])
    for number in range(ROUNDS * len(found)):
        plain = number % len(found)
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "benchmarks.levers.processes",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        task = {"uri": uri, "auth": auth, "edges": edges, "plain": bool(plain)}
        output, _ = await child.communicate(json.dumps(task).encode())
        if child.returncode != 0:
            raise RuntimeError("a process that measures recalls failed")
        for took_ms, ids in json.loads(output):
            found[plain][0].append(took_ms)
            found[plain][1].append(ids)
    return found


async def _measure(task: dict[str, Any]) -> list[tuple[float, list[str]]]:
    from benchmarks.race.cases import make_questions
    from benchmarks.race.plan import recall_graph
    from benchmarks.race.recalls import retriever_on
    from memoria.store import Target, open_driver

    questions = make_questions(recall_graph(task["edges"]), CASES + WARM_UP)
    target = Target(uri=task["uri"], auth=tuple(task["auth"]))
    found = []
    async with open_driver(target) as driver:
        retriever = retriever_on(driver, questions)
        for question in questions:
            started = time.perf_counter()
            recall = await retriever.recall(question.text, query_tags=question.tags, deadline_s=60)
            took_ms = 1_000 * (time.perf_counter() - started)
            found.append((took_ms, [each.memory.id for each in recall.ranked]))
    return found[WARM_UP:]


def _main() -> None:
    task = json.load(sys.stdin)
    if task["plain"]:
        sys.modules["neo4j._rust"] = None  # type: ignore[assignment]  # not to be found
    print(json.dumps(asyncio.run(_measure(task))))


if __name__ == "__main__":
    _main()
