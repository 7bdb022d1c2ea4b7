"""Files of which others never see a part, and files that say what this process does.

In: the name of a file; facts. Out: the file, once the block ends, or while it runs. Writes and
removes files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4


@contextmanager
def written_whole(file: Path) -> Iterator[Path]:
    """Give a name to write to. The file written there gets its own name if no error occurs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f".{file.name}.{uuid4().hex}.part")
    try:
        yield partial
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def while_running(file: Path, facts: Mapping[str, Any]) -> Iterator[None]:
    """Keep facts and the number of this process in a file that only its owner can read.

    A folder that can't be written is not an error: the file is then left out.
    """
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.unlink(missing_ok=True)  # others may be able to read it, or hold it open
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            json.dump({**facts, "pid": os.getpid()}, opened)
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink(missing_ok=True)
