"""Read what was said from the transcript that a coding agent keeps of a session.

In: a file of JSON Lines, as Claude Code or Codex writes it. Out: `Message`s. Reads the file.

Calls of tools, their results, and texts that the host puts into the mouth of the user are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from memoria.agents.kinds import Harness
from memoria.errors import InvalidInputError
from memoria.types import Message

#: How much of the end of a transcript is read, in bytes: a hook has no time for a long session.
TAIL_BYTES = 1_000_000
#: How many messages of it are taken, the last ones.
MOST = 40
# The tags of hosts are of several words, those of HTML are not: <system-reminder>, <div>.
_OF_THE_HOST = re.compile(r"\s*(<[a-z]+[-_][\w-]*[ >]|# AGENTS\.md)")


def read_transcript(file: Path, harness: Harness) -> tuple[Message, ...]:
    """Read the last messages of a transcript; the same line always gets the same id.

    Raises
    ------
    OSError
        The file can't be read.
    """
    found = []
    for place, line in _last_lines(file):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):  # half-written by the host, or nested too deep
            continue
        if isinstance(value, dict) and (said := _said(value, harness)) is not None:
            found.append(_message(said, value, str(value.get("uuid") or place)))
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


def _said(value: dict[str, Any], harness: Harness) -> tuple[str, str] | None:
    """Return the role and the text of a line; None if nobody said anything there."""
    if harness == "claude":
        message = value.get("message")
        if value.get("type") not in ("user", "assistant") or not isinstance(message, dict):
            return None
        if value.get("isMeta") or value.get("isSidechain"):
            return None
    else:
        message = value.get("payload")
        if value.get("type") != "response_item" or not isinstance(message, dict):
            return None
        if message.get("type") != "message":
            return None
    role, text = str(message.get("role")), _text(message.get("content"))
    if role not in ("user", "assistant") or not text:
        return None
    return None if role == "user" and _OF_THE_HOST.match(text) else (role, text)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else []
    texts = [
        part["text"]
        for part in parts
        if isinstance(part, dict)
        and part.get("type") in ("text", "input_text", "output_text")
        and isinstance(part.get("text"), str)
    ]
    return "\n\n".join(texts).strip()


def _message(said: tuple[str, str], value: dict[str, Any], id_: str) -> Message | None:
    return message_of(
        {"role": said[0], "text": said[1], "id": id_, "created_at": value.get("timestamp")}
    )


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
