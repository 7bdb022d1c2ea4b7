"""A loop in which nobody waits: its clock jumps to the next timer as soon as nothing else is to do.

A test of time limits in it takes no time, and a busy machine can't make it fail: only what waits
moves the clock. What runs meanwhile in threads or other processes does not; such tests need the
real clock.
"""

from __future__ import annotations

import asyncio
import functools
import selectors
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec

P = ParamSpec("P")


class _Jumping(selectors.DefaultSelector):
    """A selector that counts the time for which it was to wait, and does not wait."""

    waited_s = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if not timeout or timeout < 0:
            return super().select(timeout)
        self.waited_s += timeout
        return super().select(0)


class _JumpingLoop(asyncio.SelectorEventLoop):
    """A loop on the clock of its selector."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.waited_s


def without_waiting(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Run a test in a loop of its own in which nobody waits; fixtures must not be async ones."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def main() -> None:
            await test(*args, **kwargs)

        with asyncio.Runner(loop_factory=_JumpingLoop) as runner:
            runner.run(main())

    return run
