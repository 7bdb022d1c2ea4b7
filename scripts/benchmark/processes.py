"""Whole recalls in processes of their own, in turns: what a process can have only one of.

In: a server. Out: times. The driver's codec is chosen when the driver is imported, the event loop
when a process starts to run. Run as a module, it is such a process: its task comes in by the
standard input; so nothing here imports the driver at the top.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

ROUNDS = 3
CASES = 40
WARM_UP = 10

Client = dict[str, bool]
Times = tuple[list[float], list[list[str]]]


async def times_of_clients(
    uri: str, auth: Any, edges: int, clients: Sequence[Client]
) -> list[Times]:
    """Recall the same questions with each client, in turns.

    Parameters
    ----------
    clients
        ``plain``: with the driver's codec in Python; ``uvloop``: in its event loop.

    Returns
    -------
    list
        For each client the ms of each recall, and the ids that it returned in their order.
    """
    found: list[Times] = [([], []) for _ in clients]
    for number in range(ROUNDS * len(clients)):
        place = number % len(clients)
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "scripts.benchmark.processes",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        task = {"uri": uri, "auth": auth, "edges": edges, **clients[place]}
        output, _ = await child.communicate(json.dumps(task).encode())
        if child.returncode != 0:
            raise RuntimeError("a process that measures recalls failed")
        for took_ms, ids in json.loads(output):
            found[place][0].append(took_ms)
            found[place][1].append(ids)
    return found


async def _measure(task: dict[str, Any]) -> list[tuple[float, list[str]]]:
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
            started = time.perf_counter()
            recall = await retriever.recall(question.text, query_tags=question.tags, deadline_s=60)
            took_ms = 1_000 * (time.perf_counter() - started)
            found.append((took_ms, [each.memory.id for each in recall.ranked]))
    return found[WARM_UP:]


def _main() -> None:
    task = json.load(sys.stdin)
    if task.get("plain"):
        sys.modules["neo4j._rust"] = None  # type: ignore[assignment]  # not to be found
    factory = None
    if task.get("uvloop"):
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        print(json.dumps(runner.run(_measure(task))))


if __name__ == "__main__":
    _main()
