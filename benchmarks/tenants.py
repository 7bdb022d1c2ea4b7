"""Many new tenants at once on one store: what is answered, what is refused, and when.

    scripts/bench tenants --tenants 100 300 --deadline 10

Starts a throw-away Neo4j, writes a few memories for every tenant, and has all tenants ask one
question at the same moment, each through `GraphRetriever.for_scope`. Then the same number of
questions comes from one tenant. Each burst meets a store of its own, which has not seen a call
before; the second burst of the tenants meets a store that knows its rate. Bounded: at most 1,000
tenants, and a burst lasts no longer than the deadline.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from memoria.embed import OnnxEmbedder
from memoria.errors import MemoriaError, OverloadedError
from memoria.local import LocalNeo4j
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, open_driver
from memoria.types import Memory, Relation

MOST_TENANTS = 1_000
WRITERS = 4

TEXTS = (
    ("request", "UserRequest", "Why did the tour of guest {0} leave forty minutes late?"),
    ("late", "Event", "The tour with guest {0} left late: three bicycles had flat tyres."),
    ("tyres", "Event", "Nobody had checked the tyres of bicycle {0} since Thursday."),
    ("moved", "AgentAction", "Moved the tyre check of bicycle {0} from Friday to Monday."),
    ("rain", "Event", "It rained when guest {0} came, and the café by the river was closed."),
    ("seat", "UserPreference", "Guest {0} prefers a low saddle and a map made of paper."),
)
EDGES = (
    ("request", "late", "about"),
    ("late", "tyres", "caused_by"),
    ("tyres", "moved", "caused_by"),
    ("late", "rain", "together_with"),
    ("request", "seat", "asked_by"),
)
QUESTION = "Why did the tour with guest {0} leave late?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How one call ended.

    Attributes
    ----------
    outcome
        ``ok``, ``degraded``, ``refused``, or the name of another error.
    took_s
        Time from the call to its end; seconds.
    ended
        When it ended; seconds since the burst began.
    note
        What was degraded, or the message of the error.
    """

    outcome: str
    took_s: float
    ended: float
    note: str = ""


async def write_tenants(memory: GraphRetriever, tenants: int) -> None:
    """Write the memories of every tenant, some tenants at a time."""
    free = asyncio.Semaphore(WRITERS)

    async def write(number: int) -> None:
        memories = [
            Memory(id=id_, kind=kind, text=text.format(number)) for id_, kind, text in TEXTS
        ]
        edges = [
            Relation(source=source, target=target, relation=relation, weight=0.9)
            for source, target, relation in EDGES
        ]
        async with free:
            await memory.for_scope(f"tenant-{number}").writer().write(memories, edges)

    await asyncio.gather(*(write(number) for number in range(tenants)))


async def burst(retrievers: Sequence[GraphRetriever], deadline_s: float) -> list[Call]:
    """Ask every retriever a question of its own at the same moment."""
    began = time.perf_counter()

    async def ask(retriever: GraphRetriever, number: int) -> Call:
        started = time.perf_counter()
        note = ""
        try:
            recall = await retriever.recall(QUESTION.format(number), deadline_s=deadline_s)
            note = "; ".join(recall.trace.degraded)
            outcome = "degraded" if note else "ok"
        except OverloadedError as exc:
            outcome, note = "refused", str(exc)
        except MemoriaError as exc:
            outcome, note = type(exc).__name__, str(exc)
        ended = time.perf_counter()
        return Call(outcome=outcome, took_s=ended - started, ended=ended - began, note=note)

    return await asyncio.gather(*(ask(each, number) for number, each in enumerate(retrievers)))


def report(name: str, calls: Sequence[Call], deadline_s: float) -> float:
    """Print what became of a burst; return its throughput: answers in a second."""
    answered = [call for call in calls if call.outcome in ("ok", "degraded")]
    refused_ms = [1_000 * call.took_s for call in calls if call.outcome == "refused"]
    counts = {call.outcome: 0 for call in calls}
    for call in calls:
        counts[call.outcome] += 1
    print(f"{name}: {', '.join(f'{count} {outcome}' for outcome, count in sorted(counts.items()))}")
    rate = 0.0
    if answered:
        times = sorted(call.took_s for call in answered)
        rate = len(answered) / max(call.ended for call in answered)
        print(
            f"  answered: p50 {statistics.median(times):.2f} s, max {times[-1]:.2f} s, "
            f"{rate:.1f} a second"
        )
    if refused_ms:
        quick = sum(each < 100 for each in refused_ms)
        print(
            f"  refused: {quick} of {len(refused_ms)} in under 100 ms, "
            f"p50 {statistics.median(refused_ms):.1f} ms, max {max(refused_ms):.0f} ms"
        )
    over_s = max(call.took_s for call in calls) - deadline_s
    print(f"  largest overrun of the deadline: {over_s:+.3f} s")
    notes = sorted({f"{call.outcome}: {call.note}" for call in calls if call.note})
    for note in notes[:3]:
        print(f"  {note[:160]}")
    return rate


async def measure(
    target: Target, embedder: OnnxEmbedder, tenants: int, deadline_s: float, rounds: int
) -> None:
    """Send bursts of many tenants and of one tenant in turns; print them."""
    many_rates: list[float] = []
    one_rates: list[float] = []
    async with open_driver(target) as driver:
        for number in range(rounds):
            many = GraphRetriever(Store(driver), scope="nobody", embedder=embedder)
            one = GraphRetriever(Store(driver), scope="tenant-0", embedder=embedder)
            scopes = [many.for_scope(f"tenant-{each}") for each in range(tenants)]
            kinds = {f"{tenants} tenants": scopes, f"{tenants} recalls of one": [one] * tenants}
            order = list(kinds)[:: 1 if number % 2 else -1]  # who comes first has colder caches
            print(f"--- round {number + 1}")
            for store in ("new store", "second burst"):
                for name in order:
                    calls = await burst(kinds[name], deadline_s)
                    rate = report(f"{name}, {store}", calls, deadline_s)
                    (one_rates if kinds[name] is not scopes else many_rates).append(rate)
    ratio = statistics.fmean(many_rates) / statistics.fmean(one_rates)
    print(f"throughput of {tenants} tenants / of one tenant: {ratio:.2f}")


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    asyncio.run(_run(_parse(arguments)))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tenants", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--deadline", type=float, default=10.0, help="of each call; seconds")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args(arguments)
    if not all(1 <= each <= MOST_TENANTS for each in options.tenants):
        parser.error(f"--tenants must be from 1 to {MOST_TENANTS}")
    return options


async def _run(options: argparse.Namespace) -> None:
    embedder = OnnxEmbedder()
    await embedder.load()
    async with LocalNeo4j.ephemeral() as server:
        target = Target(uri=server.uri, auth=server.auth)
        async with open_driver(target) as driver:
            patient = Store(driver).patient(60)  # the first queries have to be planned
            memory = GraphRetriever(patient, scope="tenant-0", embedder=embedder)
            await write_tenants(memory, max(options.tenants))
            for _ in range(20):  # the server plans its queries once
                await memory.recall("warm up")
        for tenants in options.tenants:
            await measure(target, embedder, tenants, options.deadline, options.rounds)
