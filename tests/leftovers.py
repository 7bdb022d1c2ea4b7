"""The folder of memoria that all tests of a run use, and the processes that a run left behind.

In: the environment. Out: variables of the environment, processes. Ends processes that were left.

A command that a test starts without a folder of its own would use the user's: it would see files of
the user's servers there, and could start the user's server.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import uuid4

import psutil
import pytest

HOME = "MEMORIA_HOME"
#: Set for all processes of a run, so that they can be told from those of another run.
RUN = "MEMORIA_TEST_RUN"
# Servers of the tests end by themselves when their owner has gone; seconds.
_END_S = 60.0


@contextmanager
def home_of_the_run() -> Iterator[None]:
    """Let this process and all that it starts use a temporary folder, and mark them all."""
    with (
        tempfile.TemporaryDirectory(prefix="memoria-tests-", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv(HOME, folder)
        patch.setenv(RUN, uuid4().hex)
        yield


def left_running(run: str, within_s: float = _END_S) -> list[psutil.Process]:
    """Return the processes of a run that are still there after a while, but for this process."""
    until = time.monotonic() + within_s
    while (found := _of_run(run)) and time.monotonic() < until:
        time.sleep(0.2)
    return found


def _of_run(run: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):  # it ended meanwhile, or is another user's
            is_other = process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE
            if is_other and process.environ().get(RUN) == run:
                found.append(process)
    return found


def end_left_running(run: str, within_s: float = _END_S) -> None:
    """End the processes that a run left running.

    Raises
    ------
    pytest.UsageError
        Something was: pytest prints the message, and ends with an exit code other than 0.
    """
    lines = []
    for process in left_running(run, within_s):
        with suppress(psutil.Error):
            place = process.environ().get(HOME, "")
            lines.append(f"{process.pid}, MEMORIA_HOME={place}: {' '.join(process.cmdline())}")
            process.kill()
    if lines:
        raise pytest.UsageError("\n".join(("the tests left these processes running:", *lines)))
