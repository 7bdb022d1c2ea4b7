"""Ask git when the notes of a folder were added.

In: a folder. Out: times by the paths of files. Runs ``git log``, which reads the repository only.

The time of a file says when the folder was checked out or copied, so it is not asked for.
"""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

TIMEOUT_S = 60
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


def dates_of(folder: Path) -> dict[str, datetime]:
    """Return when each file was first committed, by its path in the folder, with slashes.

    Empty without git, outside a repository, and where only a part of its history is there.
    """
    git = shutil.which("git")
    if git is None or _run(git, folder, "rev-parse", "--is-shallow-repository") != b"false\n":
        return {}
    found: dict[str, datetime] = {}
    made: datetime | None = None
    for field in _run(git, folder, *_LOG).split(b"\0"):
        text = field.lstrip(b"\n").decode("utf-8", "surrogateescape")
        if text.startswith("\x01"):
            made = _time(text[1:])
        elif text and made is not None:
            found[text] = made  # the newest commit comes first
    return found


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(text), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _run(git: str, folder: Path, *arguments: str) -> bytes:
    """Return what git prints; nothing if it fails."""
    settings = [word for setting in _SAFE for word in ("-c", setting)]
    try:
        done = subprocess.run(  # noqa: S603  # no shell, and fixed arguments
            [git, "--no-pager", "-C", str(folder), *settings, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            env={**_ENVIRONMENT, "PATH": str(Path(git).parent)},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""
