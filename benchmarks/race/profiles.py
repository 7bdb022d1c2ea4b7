"""Where the client's processor time goes, and what the server touches for it.

In: a contender and cases; a server. Out: plain values for the record. Reads only.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import neo4j

from benchmarks.race.cases import Case
from benchmarks.race.contender import Contender
from benchmarks.race.explorers import spread_by
from benchmarks.race.serve import Served
from memoria.recall.strategies import TransferEnergy
from memoria.store.queries import load

Stack = tuple[str, ...]

# Frames below which what a task does stands, and what it does in a thread.
LOOP = "asyncio.base_events._run_once"
THREAD = "concurrent.futures.thread.run"
# Where the loop is when it waits, or was woken to note that a thread is at work.
WAITING = {"selectors.select", "asyncio.selector_events._read_from_self"}
INTERVAL_S = 0.001
RARE = 0.005
# Modules by what they do, the more special ones first.
PARTS = {
    "memoria": "memoria",
    "neo4j._codec": "codec",
    "neo4j._rust": "codec",
    "neo4j": "driver",
    "asyncio": "event loop and sockets",
    "selectors": "event loop and sockets",
    "socket": "event loop and sockets",
    "benchmarks": "benchmark",
}


async def client_profile(
    contender: Contender, cases: Sequence[Any], limit_s: float
) -> dict[str, Any]:
    """Sample the stack by processor time while cases are answered, for so many seconds at most.

    Returns
    -------
    dict
        ``samples``; ``parts``: share of each part; ``frames``: each frame that is no rarer than
        `RARE`, with its callers, outermost first, and its share.
    """
    until = time.perf_counter() + limit_s
    with _sampling() as seen:
        for case in cases:
            await contender.run(case)
            if time.perf_counter() > until:
                break
    parts: Counter[str] = Counter()
    for stack, count in seen.items():
        parts[_part(stack)] += count
    total = sum(parts.values())
    return {
        "samples": total,
        "parts": {part: count / total for part, count in parts.most_common()},
        "frames": _frames(seen),
    }


@contextmanager
def _sampling() -> Iterator[Counter[Stack]]:
    """Note where this process is whenever it has used up so much processor time."""
    seen: Counter[Stack] = Counter()

    def note(_signal: int, frame: FrameType | None) -> None:
        stack = _stack(frame)
        if not WAITING.isdisjoint(stack):  # what ranks and packs in a thread has used the time
            others = map(_stack, sys._current_frames().values())  # the only way
            stack = next((other for other in others if THREAD in other), stack)
        outermost = next((n for n, name in enumerate(stack) if name in (LOOP, THREAD)), None)
        seen[tuple(reversed(stack[:outermost]))] += 1

    # The loop's handler wakes it where a thread is at work; what is noted must be noted at once.
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGPROF, lambda: None)
    signal.signal(signal.SIGPROF, note)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)
    try:
        yield seen
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        loop.remove_signal_handler(signal.SIGPROF)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)  # one may be under way still


def _stack(frame: FrameType | None) -> list[str]:
    """Name the functions of a stack, innermost first."""
    stack = []
    while frame is not None:
        stack.append(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}")
        frame = frame.f_back
    return stack


def _frames(seen: Counter[Stack]) -> list[tuple[Stack, float]]:
    """Say how often each frame was seen below its callers, whatever it called itself."""
    total = seen.total()
    counts: Counter[Stack] = Counter()
    for stack, count in seen.items():
        for depth in range(1, len(stack) + 1):
            counts[stack[:depth]] += count
    return sorted((stack, n / total) for stack, n in counts.items() if n >= RARE * total)


def _part(stack: Stack) -> str:
    """Say which part the innermost frame of a known module belongs to."""
    for frame in reversed(stack):
        for module, part in PARTS.items():
            if frame.startswith(module + "."):
                return part
    return "event loop and sockets"


class Profiler:
    """Sends queries under ``PROFILE``, and adds up what their operators touch."""

    def __init__(self, session: neo4j.AsyncSession) -> None:
        self._session = session
        self._hits: Counter[str] = Counter()
        self._rows: Counter[str] = Counter()

    async def __call__(self, text: str, parameters: Mapping[str, Any]) -> neo4j.Record:
        """Send a query, whose parameters are its map ``$p``; return its record."""
        result = await self._session.run(f"PROFILE {text}", p=dict(parameters))
        records = [record async for record in result]
        for operator in _operators((await result.consume()).profile or {}):
            name = operator["operatorType"].partition("@")[0]
            self._hits[name] += operator.get("dbHits", 0)
            self._rows[name] += operator.get("rows", 0)
        return records[0]

    def operators(self) -> list[dict[str, Any]]:
        """Sum up each operator: ``operator``, ``hits``, ``rows``; most database hits first."""
        return [
            {"operator": name, "hits": count, "rows": self._rows[name]}
            for name, count in self._hits.most_common()
        ]


async def server_profile(
    served: Served, cases: Sequence[Case], strategy: TransferEnergy
) -> list[dict[str, Any]]:
    """Profile every level of some explorations; see `Profiler.operators`."""
    level = load("strategies.level").text
    async with served.session() as session:
        profiler = Profiler(session)

        async def ask(parameters: Mapping[str, Any]) -> Any:
            return (await profiler(level, parameters))["level"]

        for case in cases:
            await spread_by(ask, case, strategy)
    return profiler.operators()


def _operators(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if plan:
        yield plan
    for child in plan.get("children", ()):
        yield from _operators(child)
