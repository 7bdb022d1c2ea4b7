"""Drop the connection of a query whose driver no longer lets the event loop run.

In: sessions of the driver, and the time by which each must have answered. Touches: their
connections; one thread.

A server that sends a wrong message can make the driver wait for a further message in a loop that
never yields. The event loop then stands still, and with it every time limit in it. A thread is the
only thing that still runs.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

import neo4j

log = logging.getLogger(__name__)

# How often the thread looks while queries are under way; seconds.
_EVERY_S = 0.05
# A loop that is this much behind a limit is asked whether it still runs; seconds.
_LATE_S = 0.1
# A loop that does not run within this time stands still; seconds.
_ANSWER_S = 0.1

# Who blocks the loop, the driver or others, is unknown.
_DROPPED = (
    "the event loop is blocked past the limit of a query, whose connection is dropped: "
    "the driver waits for a message that never comes, or other code blocks the loop, "
    "such as a breakpoint or a model that is being loaded"
)


@dataclass(slots=True, eq=False)
class Watched:
    """A session of the driver, and the time by which it must have answered.

    Attributes
    ----------
    loop
        The loop of the session's task.
    until
        On the clock of `time.monotonic`; infinite before anything was asked.
    is_dropped
        Whether its connection was dropped since `expect`.
    """

    session: neo4j.AsyncSession
    loop: asyncio.AbstractEventLoop
    until: float = math.inf
    is_dropped: bool = False

    def expect(self, timeout_s: float) -> None:
        """Expect an answer within so many seconds."""
        self.until = time.monotonic() + timeout_s
        self.is_dropped = False


class Watchdog:
    """Watches sessions from one thread, which starts with the first of them and then stays."""

    def __init__(self) -> None:
        self._watched: dict[int, Watched] = {}
        self._busy = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, watched: Watched) -> None:
        """Drop the connection of a session if its loop stands still past the limit."""
        if self._thread is None or not self._thread.is_alive():  # a fork leaves the thread behind
            self._start()
        self._watched[id(watched)] = watched
        self._busy.set()

    def leave(self, watched: Watched) -> None:
        """Watch a session no longer."""
        del self._watched[id(watched)]

    def _start(self) -> None:
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._run, name="memoria watchdog", daemon=True
                )
                self._thread.start()

    def _run(self) -> None:
        while True:
            self._busy.wait()
            while self._watched:
                time.sleep(_EVERY_S)
                self._look()
            self._busy.clear()
            if self._watched:  # came in between
                self._busy.set()

    def _look(self) -> None:
        """Drop what is late in a loop that stands still; a loop that runs has its own limits."""
        now = time.monotonic()
        late = [each for each in list(self._watched.values()) if each.until + _LATE_S < now]
        for loop in {each.loop for each in late}:
            if _runs(loop):
                continue
            for each in late:
                if each.loop is loop:
                    if not each.is_dropped:
                        each.is_dropped = True
                        log.error(_DROPPED)
                    # Each time, because the driver may have opened its connection meanwhile.
                    with suppress(Exception):  # the driver is in a state that nobody foresaw
                        _drop(each.session)


def _drop(session: neo4j.AsyncSession) -> None:
    """Break the connection of a session from this thread.

    The driver then raises an error in the loop, where the session gives the connection back. From
    here it can't: ``cancel`` asks for the task at work, which a thread does not have, and the pool
    would count the connection as in use for ever.
    """
    connection = getattr(session, "_connection", None)  # not public
    if connection is None:
        session.cancel()
    else:
        connection.kill()


def _runs(loop: asyncio.AbstractEventLoop) -> bool:
    """Tell whether a loop still runs what it is given."""
    ran = threading.Event()
    try:
        loop.call_soon_threadsafe(ran.set)
    except RuntimeError:  # it is closed: nobody waits in it any more
        return True
    return ran.wait(_ANSWER_S)


#: The watchdog of this process.
WATCHDOG = Watchdog()
