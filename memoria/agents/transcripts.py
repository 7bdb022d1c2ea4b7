"""Read what was said from the transcript that a coding agent keeps of a session.

In: a file of JSON Lines, as Claude Code or Codex writes it. Out: `Message`s. Reads the file.

Calls of tools, their results, and texts that the host puts into the mouth of the user are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from memoria._support.session_lines import said_to_claude_code, said_to_codex
from memoria.agents.kinds import Harness
from memoria.errors import InvalidInputError
from memoria.types import Message

#: How much of the end of a transcript is read, in bytes: a hook has no time for a long session.
TAIL_BYTES = 1_000_000
#: How many messages of it are taken, the last ones.
MOST = 40


def read_transcript(file: Path, harness: Harness) -> tuple[Message, ...]:
    """Read the last messages of a transcript; the same line always gets the same id."""
    said_to = said_to_claude_code if harness == "claude" else said_to_codex
    found = []
    for place, line in _last_lines(file):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):  # half-written by the host, or nested too deep
            continue
        if isinstance(value, dict) and (said := said_to(value)).text:
            id_, when = str(value.get("uuid") or place), value.get("timestamp")
            plain = {"role": said.role, "text": said.text, "id": id_, "created_at": when}
            found.append(message_of(plain))
    return tuple(message for message in found if message is not None)[-MOST:]


def _last_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the place of each line in the file, and the line; whole lines only."""
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        opened.seek(max(0, size - TAIL_BYTES))
        if size > TAIL_BYTES:
            opened.readline()
        place = opened.tell()
        for line in opened:
            yield place, line
            place += len(line)


def message_of(value: dict[str, Any]) -> Message | None:
    """Return a message from plain data; None if it can't be stored."""
    when = value.get("created_at")
    try:
        created_at = datetime.fromisoformat(when) if isinstance(when, str) else None
        return Message(
            role=value["role"], text=value["text"], id=value["id"], created_at=created_at
        )
    except (InvalidInputError, KeyError, ValueError):
        return None
