"""Ask git when the notes of a folder were added.

In: a folder, paths in it. Out: times by these paths. Runs ``git log``, which reads the repository
only, in bounded memory and time: a repository of a few kilobytes can list files without an end.

The time of a file says when the folder was checked out or copied, so it is not asked for.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

TIMEOUT_S = 60
#: Memory of git, where the system can limit that of another process: on Linux.
MAX_GIT_BYTES = 800_000_000
#: Most of its output: ten times as much as the log of the Linux kernel.
MAX_OUTPUT_BYTES = 100_000_000
#: A repository of somebody else can name programs in its settings, and places to fetch from.
_SAFE = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "log.mailmap=false",
    "log.showSignature=false",
    "protocol.allow=never",
)
#: Nothing of the environment, such as GIT_DIR, may point to another repository.
_ENVIRONMENT = {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
_LOG = (
    *("log", "--no-renames", "--diff-filter=A", "--name-only", "--relative", "-z"),
    *("--no-ext-diff", "--no-textconv", "--format=%x01%at", "--", "."),
)
_FIELD = re.compile(rb"[^\0]+")


def dates_of(folder: Path, paths: Collection[str]) -> dict[str, datetime]:
    """Return when each of these files was first committed, by its path in the folder, with slashes.

    Empty without git, outside a repository, where only a part of its history is there, and where
    the history is too large.
    """
    git = shutil.which("git")
    if git is None or _run(git, folder, "rev-parse", "--is-shallow-repository") != b"false\n":
        return {}
    wanted = frozenset(paths)
    found: dict[str, datetime] = {}
    made: datetime | None = None
    for field in _FIELD.finditer(_run(git, folder, *_LOG)):
        text = field[0].lstrip(b"\n").decode("utf-8", "surrogateescape")
        if text.startswith("\x01"):
            made = _time(text[1:])
        elif text in wanted and made is not None:
            found[text] = made  # the newest commit comes first
    return found


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(text), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _run(git: str, folder: Path, *arguments: str) -> bytes:
    """Return the output of git; nothing if it fails or exceeds a limit."""
    settings = [word for setting in _SAFE for word in ("-c", setting)]
    try:
        with subprocess.Popen(  # noqa: S603  # no shell, and fixed arguments
            [git, "--no-pager", "-C", str(folder), *settings, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**_ENVIRONMENT, "PATH": str(Path(git).parent)},
        ) as running:
            output = _output_of(running)
    except OSError:
        return b""
    return output if running.returncode == 0 else b""


def _output_of(running: subprocess.Popen[bytes]) -> bytes:
    """Read the output of a process; end the process at a limit."""
    with suppress(ImportError, AttributeError, OSError):  # another system, or git has ended
        import resource

        resource.prlimit(running.pid, resource.RLIMIT_DATA, (MAX_GIT_BYTES, MAX_GIT_BYTES))
    timer = threading.Timer(TIMEOUT_S, running.kill)
    timer.start()
    try:
        output = running.stdout.read(MAX_OUTPUT_BYTES + 1) if running.stdout else b""
        if len(output) <= MAX_OUTPUT_BYTES:
            running.wait()
    finally:
        timer.cancel()
        running.kill()
    return output
