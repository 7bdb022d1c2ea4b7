"""The one form in which every fault is tried, counted and shown.

In: rows, each with a way to try it. Out: a tally for each row. Touches nothing by itself.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from memoria.local import EphemeralNeo4j
from memoria.store import Target

# The time of a try, where its row does not say another; seconds.
TRY_S = 120.0
# So much longer than its limit a call may take; seconds.
GRACE_S = 0.5
# So many failures of a row are described; all are counted.
DESCRIBED = 3

#: Tries a fault once: what the family has opened, random numbers of this try alone, and its
#: number. Returns None if everything held, or in words what did not.
Attempt = Callable[[Any, random.Random, int], Awaitable[str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One fault.

    Attributes
    ----------
    key
        Its name on the command line.
    fault
        What is done.
    expected
        What must hold, whatever the fault hits.
    quick, full
        Number of tries; >= 1. ``quick`` may be 0: then a quick run leaves the row out.
    attempt
        Tries it once.
    least
        Number of tries that are made however long they take; >= 1. Fewer would show nothing.
    at_once
        Number of tries that are under way together; >= 1.
    try_s
        A try that has not ended by then has failed; seconds.
    """

    key: str
    fault: str
    expected: str
    quick: int
    full: int
    attempt: Attempt
    least: int = 1
    at_once: int = 1
    try_s: float = TRY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a run gives to its families.

    Attributes
    ----------
    server
        A server that the families without one of their own share.
    seed
        What all random numbers of the run depend on.
    quick
        Whether the run is short.
    stack, shared
        Families share what it holds: opened once, and closed at the end of the run.
    """

    server: EphemeralNeo4j
    seed: int
    quick: bool
    stack: AsyncExitStack
    shared: dict[str, Any] = field(default_factory=dict)

    @property
    def target(self) -> Target:
        """The address of the server."""
        return Target(uri=self.server.uri, auth=self.server.auth)

    @property
    def grace_s(self) -> float:
        """So much longer than its limit a call may take; seconds.

        A short run may share the machine with tests: it looks for calls that hang, not for late
        ones.
        """
        return 10.0 if self.quick else GRACE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Faults that need the same things to be open.

    Attributes
    ----------
    name
        Its name on the command line.
    opened
        Opens what the attempts get as their first argument.
    rows
        Its faults.
    """

    name: str
    opened: Callable[[Setting], AbstractAsyncContextManager[Any]]
    rows: tuple[Row, ...]


@dataclass(slots=True, kw_only=True)
class Tally:
    """What came of the tries of one row.

    Attributes
    ----------
    tries, held
        How often the fault was tried, and how often everything held.
    took_s
        Time for all tries; seconds.
    failures
        The first failures: number of the try, and in words what did not hold.
    """

    row: Row
    tries: int = 0
    held: int = 0
    took_s: float = 0.0
    failures: list[tuple[int, str]] = field(default_factory=list)

    def to_dict(self, family: str) -> dict[str, Any]:
        """Return the tally as plain values."""
        return {
            "family": family,
            "key": self.row.key,
            "fault": self.row.fault,
            "expected": self.row.expected,
            "tries": self.tries,
            "held": self.held,
            "took_s": round(self.took_s, 1),
            "failures": [list(each) for each in self.failures],
        }


async def tally(row: Row, opened: Any, *, seed: int, numbers: Iterable[int], until: float) -> Tally:
    """Try a row with each of these numbers, as long as there is time, and so often as it needs.

    A try depends on the seed, the key of its row and its number alone, so that each can be
    repeated.

    Parameters
    ----------
    until
        Time of `time.monotonic` after which no further try begins; seconds.
    """
    found = Tally(row=row)
    began = time.monotonic()
    ahead = iter(numbers)

    async def tried() -> None:
        for number in ahead:
            if found.tries >= row.least and time.monotonic() > until:
                return
            wrong = await _tried(row, opened, seed, number)
            found.tries += 1
            if wrong is None:
                found.held += 1
            elif len(found.failures) < DESCRIBED:
                found.failures.append((number, wrong))

    await asyncio.gather(*(tried() for _ in range(row.at_once)))
    found.took_s = time.monotonic() - began
    return found


async def _tried(row: Row, opened: Any, seed: int, number: int) -> str | None:
    """Try a row once; return in words what did not hold."""
    rng = random.Random(f"{seed} {row.key} {number}")
    try:
        async with asyncio.timeout(row.try_s):
            return await row.attempt(opened, rng, number)
    except TimeoutError:
        return f"the try did not end within {row.try_s:g} s"
    except Exception as exc:  # noqa: BLE001 - what nobody expected is what is looked for
        found: BaseException = exc
        while isinstance(found, BaseExceptionGroup):
            found = found.exceptions[0]
        within = "" if found is exc else f", in an {type(exc).__name__}"
        return f"{type(found).__name__}: {found}"[:300] + within
