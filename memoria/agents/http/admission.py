"""Refuse recalls that would end too late, before anything is done for them.

In: the time that a call has. Out: leave to begin, or an error that says when to come again. Touches
nothing.

A recall waits for its turn by itself, but only after it has asked the database how much the scope
holds. A server with more clients than it can answer would refuse most of them late, and slow down
the others by it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean

from memoria.errors import DeadlineError, OverloadedError

# Share of its deadline that a call may be expected to take. More calls at once answer no more in a
# second, since they wait for the processor, and they delay the refusals of others.
_SHARE = 0.3
_REMEMBERED = 32
# Seconds that each call at work adds, as assumed until the first calls have ended.
_ASSUMED_S = 0.1


class Admission:
    """Counts the recalls at work, and estimates from the last ones how long another would take."""

    def __init__(self) -> None:
        self._at_work = 0
        self._each_s = deque([_ASSUMED_S] * 8, maxlen=_REMEMBERED)

    @contextmanager
    def admitted(self, deadline_s: float) -> Iterator[None]:
        """Let a call begin, which lasts as long as the body of the ``with``.

        Raises
        ------
        OverloadedError
            It would probably take more than three tenths of its deadline.
        """
        among = self._at_work + 1
        expected_s, most_s = among * fmean(self._each_s), _SHARE * deadline_s
        if self._at_work and expected_s > most_s:
            raise OverloadedError(
                f"{self._at_work} recalls are at work: another one would take about "
                f"{expected_s:.1f} s. Send it again later, or give it more time.",
                retry_after_s=expected_s - most_s,
            )
        loop = asyncio.get_running_loop()
        started = loop.time()
        self._at_work = among
        told = False  # whether the call says how long a recall takes
        try:
            yield
            told = True
        except DeadlineError:
            told = True
            raise
        finally:
            if told:
                # Calls share the processor: one among many takes as long as all of them together.
                self._each_s.append((loop.time() - started) / max(among, self._at_work))
            self._at_work -= 1
