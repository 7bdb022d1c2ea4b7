"""End a process in time, with exit code 0, whatever it does: for the hooks of coding agents.

In: a limit, from the start of the process. Out: nothing. Ends the process.
It is loaded before all else, and so loads little itself.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: From the start of the process until it ends itself; the rest of the two seconds is for the end.
LIMIT_S = 1.7
NO_TIME = (
    "no time left: start a server, such as `memoria mcp --transport http --scope NAME`, and keep "
    "it running; hooks ask it first"
)
_TOO_LATE = f"memoria hook: {NO_TIME}\n".encode()
_SAYING_S = 0.05
#: A longer time is not believed: some sandboxes say that a process began with the machine.
_BELIEVED_S = 5.0


def _passed_s() -> float:
    """Return how long this process had been running when it loaded this module; seconds.

    Only Linux tells; elsewhere it is the processor time, which is less. On a busy machine the start
    of Python alone may take half a second, and the agent waits for that as well.
    """
    used_s = time.process_time()
    try:
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        began_s = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        passed_s = time.clock_gettime(time.CLOCK_BOOTTIME) - began_s
    except (OSError, AttributeError, ValueError, IndexError):
        return used_s
    return passed_s if used_s < passed_s < _BELIEVED_S else used_s


_BEGAN_S = time.monotonic() - _passed_s()


def running_s() -> float:
    """Return how long this process has been running; seconds. Waiting counts."""
    return time.monotonic() - _BEGAN_S


@contextmanager
def failing_open(limit_s: float = LIMIT_S) -> Iterator[None]:
    """End the process with exit code 0: after the block, whatever it raises, or after a time.

    Parameters
    ----------
    limit_s
        From the start of the process; seconds.
    """

    def end() -> None:
        os._exit(0)  # whatever else is running

    def give_up() -> None:
        try:
            saying = threading.Thread(target=os.write, args=(2, _TOO_LATE), daemon=True)
            saying.start()
            saying.join(_SAYING_S)  # the host may not read what is said
        finally:
            end()  # also where no thread can be started any more

    watch = threading.Timer(max(0.0, limit_s - running_s()), give_up)
    watch.daemon = True
    try:
        watch.start()
        yield
    except SystemExit:
        pass  # Typer has said why
    except BaseException as exc:  # noqa: BLE001 - the promise is that nothing gets out
        from memoria._support.wording import in_short

        said = "".join(c if c.isprintable() else "?" for c in in_short(exc))  # it may be a terminal
        sys.stderr.write(f"memoria hook: {said}\n")
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            end()  # also where nobody reads any more
