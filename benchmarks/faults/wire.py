"""Faults of the wire: at every message boundary of every call.

In: a server behind a `FaultProxy`. Out: rows of the table.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from benchmarks.faults.messages import WRONG_MESSAGES, frame, garbage
from benchmarks.faults.proxy import Fault, FaultProxy, Kind
from benchmarks.faults.table import Family, Row, Setting
from benchmarks.faults.world import CALLS, World, settled, shared_world
from memoria import Recall
from memoria.errors import MemoriaError
from memoria.store.config import StoreConfig

_SLOW_S = 0.01
# For what is not attacked: a busy machine may take long.
PATIENT = StoreConfig(query_timeout_s=60, connect_timeout_s=60)
_SLICE_BYTES = 7
TYPED = "the answer or a typed error, at most 0.5 s after the limit; the next recall is correct"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """The server behind the proxy, and how many messages each call has.

    Attributes
    ----------
    answers, requests
        Pairs of a call and the number of a message of the server, or of the client.
    """

    world: World
    proxy: FaultProxy
    answers: list[tuple[str, int]]
    requests: list[tuple[str, int]]


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[Wire]:
    """Count the messages of every call once, with nothing broken."""
    rng = random.Random(setting.seed)
    here = await shared_world(setting)
    with FaultProxy(setting.target) as proxy:
        answers: list[tuple[str, int]] = []
        requests: list[tuple[str, int]] = []
        for name, call in CALLS.items():
            async with here.attacked(proxy.target, PATIENT, 60.0) as memory:
                proxy.arm(None)
                await call(memory, here)
                answers += [(name, number) for number in range(proxy.answers)]
                requests += [(name, number) for number in range(proxy.requests)]
        rng.shuffle(answers)
        rng.shuffle(requests)
        yield Wire(world=here, proxy=proxy, answers=answers, requests=requests)


async def _broken(kind: Kind, wire: Wire, rng: random.Random, number: int) -> str | None:
    """Break one message of one call."""
    cases = wire.requests if kind == "lost_request" else wire.answers
    name, at = cases[number % len(cases)]
    content, label = b"", ""
    if kind == "wrong_message":
        label = rng.choice(sorted(WRONG_MESSAGES))
        content = frame(WRONG_MESSAGES[label])
    elif kind == "garbage_bytes":
        content = garbage(rng)
    fault = Fault(kind=kind, at=at, content=content, again=rng.random() < 0.2)
    wrong = await _call(wire, name, fault)
    again = ", and every later one" if fault.again else ""
    return wrong and f"{name}, message {at}{again}{label and ': '}{label}: {wrong}"


async def _call(wire: Wire, name: str, fault: Fault | None) -> str | None:
    """Make one call while a fault happens, and say what did not hold."""
    proxy, here = wire.proxy, wire.world
    proxy.arm(None)
    async with here.attacked(proxy.target) as memory:
        proxy.arm(fault)
        began = time.monotonic()
        answer: object = None
        try:
            answer = await CALLS[name](memory, here)
        except MemoriaError:
            pass
        except Exception as exc:  # noqa: BLE001 - an error that is not memoria's is a failure
            return f"untyped {type(exc).__name__}: {exc}"[:300]
        finally:
            took_s = time.monotonic() - began
            proxy.arm(None)
        if fault is not None and took_s > here.limit_s:
            return f"ended after {took_s:.2f} s"
        if (
            isinstance(answer, Recall)
            and not answer.trace.degraded
            and not await here.is_right(answer)
        ):
            return "a recall without a note found something else"
        if (wrong := await settled(memory.store, here.gone_s)) is not None:
            return wrong
        if not await here.recalls_again(memory):
            return "the next recall is wrong"
    return await here.is_well()


async def _slow(wire: Wire, _: random.Random, number: int) -> str | None:
    """Hold every piece back, or cut all of them into slices."""
    name = list(CALLS)[number // 2 % len(CALLS)]
    proxy = wire.proxy
    if number % 2:
        proxy.slice_bytes = _SLICE_BYTES
    else:
        proxy.delay_s = _SLOW_S
    try:
        return await _call(wire, name, None)
    finally:
        proxy.slice_bytes, proxy.delay_s = 0, 0.0


def _row(kind: Kind, fault: str, quick: int, full: int) -> Row:
    return Row(
        key=kind.replace("_", "-"),
        fault=fault,
        expected=TYPED,
        quick=quick,
        full=full,
        attempt=partial(_broken, kind),
    )


FAMILY = Family(
    name="wire",
    opened=opened,
    rows=(
        Row(
            key="slow-wire",
            fault="each packet is delayed by 10 ms, or split into slices of 7 bytes",
            expected="the same answers",
            quick=4,
            full=len(CALLS) * 4,
            attempt=_slow,
            least=2,
        ),
        # All messages of all calls, once each, are some 440.
        _row("reset", "the connection is reset at any message", 20, 450),
        _row("half_close", "the client reads an end of file at any message", 12, 450),
        _row("cut", "the client reads an end of file in the middle of any message", 12, 450),
        _row("lost_request", "the connection is reset before a request arrives", 12, 450),
        _row(
            "black_hole",
            "from any message on, nothing more is delivered in either direction",
            6,
            450,
        ),
        _row("garbage_bytes", "random bytes instead of any message", 15, 450),
        _row(
            "wrong_message",
            f"a well-formed but wrong message instead of any message, {len(WRONG_MESSAGES)} kinds",
            40,
            1_200,
        ),
    ),
)
