"""Whole recalls with the driver's codec in Rust and in Python: processes of their own, in turns.

In: a server. Out: times. The codec is chosen when the driver is imported, so that one process can't
have both. Run as a module, it is such a process: its task comes in by the standard input.
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


async def times_of_codecs(uri: str, auth: Any, edges: int) -> dict[str, list[list[Any]]]:
    """Recall the same questions with each codec, in turns.

    Returns
    -------
    dict
        ``rust`` and ``python`` -> [wall ms, client CPU ms, ids in their order] of each recall.
    """
    found: dict[str, list[list[Any]]] = {"rust": [], "python": []}
    for number in range(2 * ROUNDS):
        name = ("rust", "python")[number % 2]
        task = {"uri": uri, "auth": auth, "edges": edges, "plain": name == "python"}
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "scripts.benchmark.codec",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await child.communicate(json.dumps(task).encode())
        if child.returncode != 0:
            raise RuntimeError("a process that measures a codec failed")
        found[name] += json.loads(output)
    return found


async def _measure(task: dict[str, Any]) -> list[list[Any]]:
    from memoria.store import Target, open_driver
    from scripts.benchmark.cases import make_questions
    from scripts.benchmark.plan import recall_graph
    from scripts.benchmark.recalls import retriever_on

    questions = make_questions(recall_graph(task["edges"]), CASES + WARM_UP)
    target = Target(uri=task["uri"], auth=tuple(task["auth"]))
    found = []
    async with open_driver(target) as driver:
        retriever = retriever_on(driver, questions)
        for question in questions:
            wall, cpu = time.perf_counter(), time.process_time()
            recall = await retriever.recall(question.text, query_tags=question.tags, deadline_s=60)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            found.append([1_000 * wall, 1_000 * cpu, [each.memory.id for each in recall.ranked]])
    return found[WARM_UP:]


if __name__ == "__main__":
    what = json.load(sys.stdin)
    if what["plain"]:
        sys.modules["neo4j._rust"] = None  # type: ignore[assignment]  # not to be found
    print(json.dumps(asyncio.run(_measure(what))))
