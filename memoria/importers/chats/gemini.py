"""Read what Gemini was asked and what it answered, from an export of Google Takeout.

In: ``MyActivity.json``, or the zip or folder that has it. Out: a conversation for each month.
Reads files, one activity at a time.

The export names no conversations: an activity is a question with its answer, the newest first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from os import PathLike
from typing import Any

from memoria.errors import InvalidInputError
from memoria.importers.chats.archive import Export, open_export
from memoria.importers.chats.html_text import text_of_html
from memoria.importers.chats.parsing import (
    Aside,
    OnInvalid,
    OnLeftOut,
    as_list,
    as_map,
    digest,
    items_of,
    messages_of,
    string_in,
    time_in,
)
from memoria.types import Conversation, Message

SOURCE = "gemini"
FILES = r"(?:.*/)?My ?Activity\.json"
#: Takeout, My Activity, Gemini Apps.
MAX_FOLDERS = 4
_PRODUCT = re.compile(r"\b(?:Gemini|Bard)\b")
#: Words before a question, in the languages that are known.
_ASKED = re.compile(
    r"(?:Prompted|Said|Asked|Eingegebener Prompt:|Gesagt:|A demandé|Requête :|Prompt enviado:?|"
    r"Petición:|Ha inviato il prompt|Prompt:|Отправлен запрос:?|Промпт:)\s+"
)


def read_gemini(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Conversation]:
    """Read the activities of Gemini from an export of Google Takeout, in JSON.

    Parameters
    ----------
    path
        ``MyActivity.json``; or the zip, or the folder it was unpacked to.
    on_invalid
        Called with the error about each activity that is wrong, which is then passed over; None
        raises the first.
    on_left_out
        Called with the reason for each activity that is left out: ``other activity`` (it is no
        question, or of another program) or ``picture``.

    Raises
    ------
    InvalidInputError
        The export can't be read, or an activity is wrong and ``on_invalid`` is None; the message
        names file, activity and field.
    """
    aside = Aside(on_invalid, on_left_out)
    with open_export(path, folders=MAX_FOLDERS) as export:
        names = export.names if export.single else export.matching(FILES)
        if not names:
            raise InvalidInputError(
                f"{export.path}: no MyActivity.json in it: choose JSON for My Activity in Takeout"
            )
        for name in names:
            said = _activities(export, name, aside)
            for month, made in groupby(said, lambda messages: f"{messages[0].created_at:%Y-%m}"):
                messages = [message for each in reversed(list(made)) for message in each]
                title = f"Gemini, {month}"
                yield Conversation(id=month, messages=messages, title=title, source=SOURCE)


def _activities(export: Export, name: str, aside: Aside) -> Iterator[list[Message]]:
    """Yield the messages of each activity, the newest first, in the order of the export."""
    for place, item in items_of(export, name, "activity"):
        made: list[Message] = []
        with aside.at(place):
            made = _activity(as_map(item, "an activity"), aside)
        if made:
            yield made


def _activity(fields: Mapping[str, Any], aside: Aside) -> list[Message]:
    """Return a question and its answer; nothing for another activity."""
    title, at = string_in(fields, "title") or "", time_in(fields, "time")
    asked = _ASKED.match(title)
    answers = fields.get("safeHtmlItem")
    parts = [answers] if isinstance(answers, dict) else as_list(answers, "safeHtmlItem")
    html = [as_map(part, "safeHtmlItem") for part in parts]
    texts = [string_in(part, "html") or string_in(part, "htmlValue") or "" for part in html]
    program = f"{string_in(fields, 'header') or ''} {fields.get('products')}"
    if at is None or not _PRODUCT.search(program) or not (asked or any(texts)):
        aside.left_out("other activity")
        return []
    if fields.get("imageFile") or fields.get("attachedFiles"):
        aside.left_out("picture")
    id_ = digest(at.isoformat(), title)
    question = title[asked.end() :] if asked else title
    answer = text_of_html("\n".join(texts))
    return [
        *messages_of(question, id_=id_, role="user", created_at=at),
        *messages_of(answer, id_=f"{id_}a", role="assistant", created_at=at),
    ]
