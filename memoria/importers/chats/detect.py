"""Tell which program an export is from.

In: a path. Out: the name of a format. Reads the beginning of files.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

from memoria.errors import InvalidInputError
from memoria.importers.chats import chatgpt, slack
from memoria.importers.chats.archive import open_export
from memoria.importers.chats.parsing import placed_items

FORMATS = (
    "chatgpt",
    "claude",
    "slack",
    "openai",
    "langchain",
    "messages",
    "memory-server",
)
#: What only the elements of one format have.
MARKS = (
    ("chatgpt", {"mapping"}),
    ("claude", {"chat_messages"}),
    ("messages", {"conversation", "text"}),
    ("openai", {"role", "content"}),
    ("langchain", {"type", "data"}),
)
_ANY_JSON = r".*\.jsonl?"


def detect_format(path: str | PathLike[str]) -> str:
    """Return the format of an export, if only one fits.

    Raises
    ------
    InvalidInputError
        The path can't be read, or what is there may be several formats, or none.
    """
    with open_export(path) as export:
        if not export.single and export.find(slack.FILES) and not export.find(chatgpt.FILES):
            return "slack"
        name = next(iter(export.find(chatgpt.FILES) or export.find(_ANY_JSON)), None)
        if name is not None:
            with export.opened(name) as read:
                items = placed_items(read, f"{export.place(name)}: element")
                _, item = next(items, ("", None))
                if (found := _format_of(item)) is not None:
                    return found
    raise InvalidInputError(
        f"{fspath(path)}: can't tell which program this is from: name the format, one of "
        f"{', '.join(FORMATS)}",
        field="format",
    )


def _format_of(item: Any) -> str | None:
    """Return the format that an element belongs to."""
    while isinstance(item, list) and item:
        item = item[0]
    if isinstance(item, dict) and isinstance(item.get("messages"), list) and item["messages"]:
        item = item["messages"][0]
    if not isinstance(item, dict):
        return None
    for name, marks in MARKS:
        if marks <= item.keys():
            return name
    return "memory-server" if item.get("type") in ("entity", "relation") else None
