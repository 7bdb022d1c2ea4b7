"""Log a warning that every call would repeat, such as of a service that is down, once a minute.

In: a logger and a message. Out: a line in the log, or none.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from memoria._support.wording import number_of

INTERVAL_S = 60.0


class Throttle:
    """Lets a message through once in a while, and says how many were left out meanwhile.

    Parameters
    ----------
    interval_s
        Time from one line to the next of the same message; seconds.
    clock
        Gives the time in seconds; it never goes back.
    """

    def __init__(
        self, *, interval_s: float = INTERVAL_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._interval_s = interval_s
        self._clock = clock
        # Logger and message -> when it was last let through, and how many were left out since.
        self._known: dict[tuple[str, str], tuple[float, int]] = {}
        self._lock = threading.Lock()

    def warn(self, log: logging.Logger, message: str, *args: object, stacklevel: int = 2) -> None:
        """Warn, unless the same message of this logger was let through just before.

        Messages are compared before formatting, so use a fixed format string.
        """
        if not log.isEnabledFor(logging.WARNING):
            return
        key, now = (log.name, message), self._clock()
        with self._lock:
            since, left_out = self._known.get(key, (now - self._interval_s, 0))
            if now - since < self._interval_s:
                self._known[key] = (since, left_out + 1)
                return
            self._known[key] = (now, 0)
        if left_out:
            message += " (%s left out before)"
            args = (*args, number_of(left_out, "such warning"))
        log.warning(message, *args, stacklevel=stacklevel)


_SHARED = Throttle()


def throttled_warning(log: logging.Logger, message: str, *args: object) -> None:
    """Warn as `Throttle.warn` does; all modules of this process share one throttle."""
    _SHARED.warn(log, message, *args, stacklevel=3)
