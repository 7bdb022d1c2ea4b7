"""Start a server from a separate process: detached, or guarded by a pipe to the parent.

In: ``child.py detach LOG COMMAND...`` or ``child.py guard FOLDER PARENT_PID``.
Out: process ids on standard output. Runs as a script that imports only the standard library.

``detach`` starts the command in a session of its own, prints its process id and ends. The server
therefore outlives the process that asked for it, and is not its child. ``guard`` reads lines from
standard input: ``start <JSON: log, command>`` starts the server and answers with its process id;
``stop`` lets the server shut down and answers 0. When its input closes or its parent is gone, the
guard kills the server and removes FOLDER.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

POLL_S = 0.25
STOP_TIMEOUT_S = 20.0
_PR_SET_PDEATHSIG = 1


def spawn(
    log: str, command: list[str], before: Callable[[], object] | None = None
) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own; its output goes to ``log``."""
    with Path(log).open("ab") as output:
        return subprocess.Popen(  # noqa: S603 - the command is made by memoria
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=before,  # safe, because the guard has one thread
        )


def _die_with_parent() -> Callable[[], object] | None:
    """Return, on Linux, a call that lets the kernel kill the server if this guard is killed."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Owner:
    """The owner of one server process, who starts and ends it."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None
        self._before = _die_with_parent()

    def obey(self, line: str) -> int:
        """Carry out one line; return a process id, or 0."""
        word, _, rest = line.partition(" ")
        if self._server is not None:
            self.end(gracefully=True)
        if word != "start":
            return 0
        request = json.loads(rest)
        self._server = spawn(request["log"], request["command"], self._before)
        return self._server.pid

    def reap(self) -> None:
        """Collect the exit status of a server that has ended."""
        if self._server is not None:
            self._server.poll()

    def end(self, *, gracefully: bool) -> None:
        """End the server, if there is one."""
        if self._server is None:
            return
        if gracefully:
            self._server.terminate()
            try:
                self._server.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                gracefully = False
        if not gracefully:
            self._server.kill()
            self._server.wait()
        self._server = None


def guard(folder: str, parent: int) -> None:
    """Serve lines until the input closes or the parent is gone; then clean up everything."""
    owner = Owner()
    pending = b""
    try:
        while os.getppid() == parent:
            owner.reap()
            if not select.select([0], [], [], POLL_S)[0]:
                continue
            received = os.read(0, 65536)
            if not received:
                break
            *lines, pending = (pending + received).split(b"\n")
            for line in lines:
                os.write(1, b"%d\n" % owner.obey(line.decode()))
    finally:
        owner.end(gracefully=False)
        for _ in range(5):
            shutil.rmtree(folder, ignore_errors=True)
            if not Path(folder).exists():
                break
            time.sleep(POLL_S)


def main(arguments: list[str]) -> None:
    """Run as a script."""
    if arguments[0] == "detach":
        server = spawn(arguments[1], arguments[2:])
        os.write(1, b"%d\n" % server.pid)
        os._exit(0)  # skips a clean-up of Python that would warn of the running server
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    guard(arguments[1], int(arguments[2]))


if __name__ == "__main__":
    main(sys.argv[1:])
