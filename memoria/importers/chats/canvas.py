"""Read the calls by which ChatGPT writes and edits a canvas.

In: the calls of a conversation, in their order. Out: revisions of documents. Touches nothing.

A call does not name the canvas that it edits: it is the last one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from memoria.errors import InvalidInputError
from memoria.importers.chats.parsing import Aside, as_list, as_map, objects_in, string_in, whole
from memoria.importers.chats.revisions import Revision, replaced_by_pattern

CREATE, UPDATE, COMMENT = (f"canmore.{name}_textdoc" for name in ("create", "update", "comment"))
CANVAS_CALLS = frozenset({CREATE, UPDATE, COMMENT})
_MISFIT = "edit of a canvas"


class Canvases:
    """The canvases of a conversation.

    Attributes
    ----------
    revisions
        Their revisions, in the order in which they were written.
    """

    def __init__(self, aside: Aside) -> None:
        self.revisions: list[Revision] = []
        self._aside = aside
        self._created = 0

    def call(self, name: str, text: str, node: str, created_at: datetime | None) -> None:
        """Read a call; one that can't be read, or does not fit, is left out."""
        try:
            fields = next(objects_in(text.encode("utf-8", "replace")))
        except InvalidInputError:  # it was broken off
            self._aside.left_out(_MISFIT)
            return
        if name == COMMENT:
            self._aside.left_out("tool call")
        elif name == CREATE:
            self._created += 1
            self.revisions.append(
                Revision(
                    name=f"canvas-{self._created}",
                    title=string_in(fields, "name"),
                    text=whole(str(fields.get("content") or "")),
                    node=node,
                    created_at=created_at,
                )
            )
        elif not self.revisions or (edited := self._edited(fields)) is None:
            self._aside.left_out(_MISFIT)
        else:
            last = self.revisions[-1]
            self.revisions.append(replace(last, text=edited, node=node, created_at=created_at))

    def name(self, canvas: Mapping[str, Any]) -> None:
        """Take the title that the answer to a call gives to a canvas."""
        title = canvas.get("title")
        if self.revisions and isinstance(title, str) and title.strip():
            self.revisions[-1] = replace(self.revisions[-1], title=whole(title))

    def _edited(self, fields: Mapping[str, Any]) -> str | None:
        """Return the text of the last canvas after a call; None if a change does not fit."""
        text: str | None = self.revisions[-1].text
        for item in as_list(fields.get("updates"), "updates"):
            update = as_map(item, "updates")
            pattern, new = (string_in(update, name) or "" for name in ("pattern", "replacement"))
            every = update.get("multiple") is True
            text = None if text is None else replaced_by_pattern(text, pattern, new, every=every)
        return text
