"""The parent's end of the pipe to a guard process (``child.py guard``).

In: a folder to remove, commands. Out: process ids. Touches: one process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from pathlib import Path

from memoria.errors import LocalServerError
from memoria.local.process import CHILD

END_TIMEOUT_S = 30.0


class Guard:
    """A process that kills its server and removes ``folder`` when this process has ended."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - the command is made by memoria
            [sys.executable, "-I", str(CHILD), "guard", str(folder), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Process id of the guard."""
        return self._process.pid

    async def ask(self, line: str) -> int:
        """Send one line and return the guard's answer."""
        answer = await asyncio.to_thread(self._exchange, line.encode() + b"\n")
        if not answer.strip():
            raise LocalServerError(
                "the guard of the ephemeral server has ended; call restart(), or open a new server"
            )
        return int(answer)

    async def close(self) -> None:
        """Close the pipe, which tells the guard to clean up, and wait until it has ended."""
        await asyncio.to_thread(self._close)

    def _exchange(self, line: bytes) -> bytes:
        if self._process.stdin is None or self._process.stdout is None:
            return b""
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
            return self._process.stdout.readline()
        except OSError:
            return b""

    def _close(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
