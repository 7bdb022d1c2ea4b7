"""The formats: the reader of each, and which one an export has.

In: a path. Out: the name of a format. Reads the beginning of files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from memoria._support.foreign_files import is_own
from memoria.errors import InvalidInputError
from memoria.importers.chats import (
    chatgpt,
    claude,
    gemini,
    letta,
    lists,
    mail,
    memory_server,
    messages,
    sessions,
    slack,
    stores,
    whatsapp,
)
from memoria.importers.chats.archive import open_export
from memoria.importers.chats.databases import TABLES, is_sqlite, sqlite_rows
from memoria.importers.chats.parsing import items_of

#: The reader of each format.
READERS: dict[str, Callable[..., Iterator[Any]]] = {
    "chatgpt": chatgpt.read_chatgpt,
    "claude": claude.read_claude,
    "slack": slack.read_slack,
    "openai": lists.read_openai,
    "langchain": lists.read_langchain,
    "messages": messages.read_messages,
    "memory-server": memory_server.read_memory_server,
    "claude-code": sessions.read_claude_code,
    "codex": sessions.read_codex,
    "gemini": gemini.read_gemini,
    "whatsapp": whatsapp.read_whatsapp,
    "mbox": mail.read_mbox,
    "mem0": stores.read_mem0,
    "letta": letta.read_letta,
    "langgraph": stores.read_langgraph,
}
FORMATS = tuple(READERS)
#: Keys that only the elements of one format have.
MARKS = (
    ("chatgpt", {"mapping"}),
    ("claude", {"chat_messages"}),
    ("messages", {"conversation", "text"}),
    ("claude-code", {"sessionId", "type"}),
    ("claude-code", {"leafUuid", "summary"}),
    ("codex", {"payload", "type"}),
    ("gemini", {"header", "title", "time"}),
    ("letta", {"agents", "blocks"}),
    ("letta", {"core_memory", "messages"}),
    ("langgraph", {"namespace", "key", "value"}),
    ("langgraph", {"prefix", "key", "value"}),
    ("mem0", {"id", "memory"}),
    ("openai", {"role", "content"}),
    ("langchain", {"type", "data"}),
)
_ANY_JSON = r".*\.(?:jsonl?|af)"
#: Names of files that only one format has.
NAMES = (("gemini", gemini.FILES), ("whatsapp", whatsapp.FILES))
#: How many elements are looked at: a session may begin with what nobody said.
MAX_ITEMS = 20
#: Sessions of coding agents lie deepest.
MAX_FOLDERS = 6


def detect_format(path: str | PathLike[str]) -> str:
    """Return the format of an export, if only one fits.

    Raises
    ------
    InvalidInputError
        The path can't be read, or what is there may be several formats, or none.
    """
    if (found := _by_file(Path(path))) is not None:
        return found
    with open_export(path, folders=MAX_FOLDERS) as export:
        if not export.single and export.find(slack.FILES) and not export.find(chatgpt.FILES):
            return "slack"
        for format_, pattern in NAMES:
            if any(re.fullmatch(pattern, name) for name in export.names):
                return format_
        name = next(iter(export.find(chatgpt.FILES) or export.find(_ANY_JSON)), None)
        if name is not None:
            for _, item in islice(items_of(export, name, "element"), MAX_ITEMS):
                if (found := _format_of(item)) is not None:
                    return found
    raise InvalidInputError(
        f"{fspath(path)}: can't tell which program this is from: name the format, one of "
        f"{', '.join(FORMATS)}",
        field="format",
    )


def _by_file(path: Path) -> str | None:
    """Return the format of a file that is not text, or of a mailbox."""
    if path.is_dir():
        found = any(each.suffix in mail.SUFFIXES and is_own(each) for each in path.iterdir())
        return "mbox" if found else None
    if is_sqlite(path):
        tables = sqlite_rows(path, TABLES, ("name",), "name")
        names = {row["name"] for row in tables}
        if not names & {"history", "store"}:
            raise InvalidInputError(
                f"{path}: a database that memoria can't read: it has tables {sorted(names)}, but "
                "none of history.db of Mem0, or of a SqliteStore of LangGraph",
                field="format",
            )
        return "mem0" if "history" in names else "langgraph"
    if is_own(path):
        with path.open("rb") as file:
            return "mbox" if file.read(5) == b"From " else None
    return None


def _format_of(item: Any) -> str | None:
    """Return the format that an element belongs to."""
    while isinstance(item, list) and item:
        item = item[0]
    if isinstance(item, dict) and not {"core_memory", "agents"} & item.keys():
        for name in ("messages", "results", "memories"):
            if isinstance(item.get(name), list) and item[name]:
                item = item[name][0]
                break
    if not isinstance(item, dict):
        return None
    for name, marks in MARKS:
        if marks <= item.keys():
            return name
    return "memory-server" if item.get("type") in ("entity", "relation") else None
