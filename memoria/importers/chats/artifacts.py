"""Read the artifacts and files that Claude writes and edits in a conversation.

In: the blocks of messages, in their order. Out: revisions of documents. Touches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memoria.importers.chats.parsing import Aside, map_in, string_in
from memoria.importers.chats.revisions import Revision, replaced

#: In older exports an artifact stands in the text of the message.
_BEGIN, _END = "<antArtifact", "</antArtifact>"
_ATTRIBUTE = re.compile(r'(?<!\w)(\w+)="([^"]*)"')
_MISFIT = "edit of an artifact"


class Artifacts:
    """The artifacts of a conversation.

    Attributes
    ----------
    revisions
        Their revisions, in the order in which they were written.
    """

    def __init__(self, aside: Aside) -> None:
        self.revisions: list[Revision] = []
        self._last: dict[str, Revision] = {}
        self._aside = aside

    def read(self, text: str, content: object, node: str, created_at: datetime | None) -> str:
        """Take the artifacts of a message; return its text without them."""
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_use":
                self._call(string_in(block, "name"), map_in(block, "input"), node, created_at)
        kept, place = [], 0
        while (start := text.find(_BEGIN, place)) >= 0 and (end := text.find(_END, start)) >= 0:
            head, _, body = text[start + len(_BEGIN) : end].partition(">")
            given: dict[str, str] = dict(_ATTRIBUTE.findall(head))
            name = given.get("identifier") or given.get("title") or "artifact"
            self._write(name, given.get("title"), body.strip(), node, created_at)
            kept += [text[place:start], given.get("title", "")]
            place = end + len(_END)
        return "".join([*kept, text[place:]])

    def _call(
        self, tool: str | None, given: Mapping[str, Any], node: str, created_at: datetime | None
    ) -> None:
        """Read the call of a tool that writes or edits."""
        old, new = (string_in(given, name) or "" for name in ("old_str", "new_str"))
        if tool == "artifacts":
            name = string_in(given, "id") or "artifact"
            text = string_in(given, "content")
            edits = string_in(given, "command") == "update"
        elif tool in ("create_file", "str_replace"):
            name = string_in(given, "path") or "file"
            text = string_in(given, "file_text")
            edits = tool == "str_replace"
        else:
            self._aside.left_out("tool call")
            return
        if edits:
            before = self._last.get(name)
            text = None if before is None else replaced(before.text, old, new)
        if text is None:
            self._aside.left_out(_MISFIT)
        else:
            self._write(name, string_in(given, "title"), text, node, created_at)

    def _write(
        self, name: str, title: str | None, text: str, node: str, created_at: datetime | None
    ) -> None:
        before = self._last.get(name)
        title = title or (before and before.title) or name.rpartition("/")[2]
        made = Revision(name=name, title=title, text=text, node=node, created_at=created_at)
        self._last[name] = made
        self.revisions.append(made)
