"""Read the export of ChatGPT.

In: the zip, the folder it was unpacked to, or one of its files ``conversations.json``,
``conversations-000.json``, .... Out: conversations and documents. Reads
files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from os import PathLike
from typing import Any

from memoria.errors import InvalidInputError
from memoria.importers.chats.archive import open_export
from memoria.importers.chats.canvas import CANVAS_CALLS, Canvases
from memoria.importers.chats.parsing import (
    Aside,
    OnInvalid,
    OnLeftOut,
    as_list,
    as_map,
    map_in,
    messages_of,
    only_says_done,
    read_elements,
    reasons_in,
    string_in,
    time_in,
    whole,
)
from memoria.importers.chats.revisions import with_documents
from memoria.importers.chats.tree import all_lines, in_order, line_to
from memoria.types import Conversation, Item, Message, Role

FILES = r"conversations(-\d+)?\.json"
ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "system": "system",
}
#: Kinds of content that nobody has said: thoughts, settings, whole web pages, errors of tools.
INTERNAL = frozenset(
    {
        "thoughts",
        "reasoning_recap",
        "user_editable_context",
        "model_editable_context",
        "tether_browsing_display",
        "sonic_webpage",
        "system_error",
    }
)
#: The tool with which the model remembers what it learns of its user.
MEMORY = "bio"
#: Times after the year 9999 are not times.
MAX_SECONDS = 253_402_300_800
#: Marks of citations, which point to sources that the export does not hold.
_CITATIONS = re.compile("\ue200[^\ue200\ue201]*\ue201|【\\d+†[^【】]*】")


def read_chatgpt(
    path: str | PathLike[str],
    *,
    all_branches: bool = False,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Item]:
    """Read the export of ChatGPT, one conversation at a time.

    A canvas becomes a document for each of its revisions, which follow its conversation.

    Parameters
    ----------
    path
        The zip, the folder it was unpacked to, or a JSON file of it.
    all_branches
        Also read what was left when a question was edited or an answer made again.
    on_invalid
        Called with the error about each message or conversation that is wrong, which is then
        passed over; None raises the first.
    on_left_out
        Called with the reason for each message or part of one that is left out: ``hidden``,
        ``internal``, ``abandoned branch``, ``tool call``, ``tool that says done``, ``picture``,
        ``recording``, ``edit of a canvas`` (one that does not fit) or ``empty``.

    Raises
    ------
    InvalidInputError
        The export can't be read, or a part of it is wrong and ``on_invalid`` is None; the message
        names file, conversation, message and field.
    """
    parse = partial(_conversation, all_branches=all_branches)
    aside = Aside(on_invalid, on_left_out)
    with open_export(path) as export:
        names = export.needed(FILES, "export of ChatGPT (conversations.json)")
        yield from read_elements(export, names, "conversation", parse, aside)


def _conversation(fields: Mapping[str, Any], aside: Aside, *, all_branches: bool) -> Iterable[Item]:
    if "mapping" not in fields:
        raise InvalidInputError("mapping is missing: this is not a ChatGPT export", field="mapping")
    nodes = {
        key: as_map(node, "mapping")
        for key, node in map_in(fields, "mapping").items()
        if node is not None
    }
    by_time = sorted(nodes, key=lambda key: _seconds(nodes[key]))
    parents = {key: string_in(nodes[key], "parent") for key in by_time}
    tip = string_in(fields, "current_node")
    order = all_lines(parents) if all_branches else line_to(parents, tip)
    made: dict[str, list[Message]] = {}
    canvases = Canvases(aside)
    for key in order:
        with aside.at(f"message {whole(key)[:80]}"):
            if found := _messages(key, nodes[key], aside, canvases):
                made[key] = found
    for key in nodes.keys() - set(order):
        if nodes[key].get("message"):
            aside.left_out("abandoned branch")
    messages = in_order(order, parents, made)
    if not messages and not canvases.revisions:
        return ()
    # The oldest exports name no conversation.
    id_ = string_in(fields, "conversation_id") or string_in(fields, "id")
    conversation = Conversation(
        id=id_ or str(messages[0].id if messages else canvases.revisions[0].node),
        messages=messages,
        title=string_in(fields, "title"),
        source="chatgpt",
    )
    return with_documents(conversation, canvases.revisions, parents, made)


def _seconds(node: Mapping[str, Any]) -> float:
    """Return a time to sort by; what has none comes first."""
    message = node.get("message")
    time = message.get("create_time") if isinstance(message, dict) else None
    return float(time) if isinstance(time, int | float) and abs(time) < MAX_SECONDS else 0.0


def _messages(key: str, node: Mapping[str, Any], aside: Aside, canvases: Canvases) -> list[Message]:
    """Return the message of a node, or nothing if nobody has said it."""
    fields = map_in(node, "message")
    if not fields:
        return []
    author, content = map_in(fields, "author"), map_in(fields, "content")
    metadata = map_in(fields, "metadata")
    role = ROLES.get(string_in(author, "role") or "", "other")
    recipient = string_in(fields, "recipient")
    text = _text(content)
    created_at = time_in(fields, "create_time")
    reason = None
    if metadata.get("is_visually_hidden_from_conversation") is True:
        reason = "hidden"
    elif string_in(content, "content_type") in INTERNAL:
        reason = "internal"
    elif role == "assistant" and recipient in CANVAS_CALLS:
        canvases.call(str(recipient), text, whole(key), created_at)
        return []
    elif role == "assistant" and recipient not in (None, "all", MEMORY):
        reason = "tool call"
    elif not text.strip():
        reason = "empty"
    elif role == "tool" and only_says_done(text):
        canvases.name(map_in(metadata, "canvas"))
        reason = "tool that says done"
    shown = reasons_in(content.get("parts"), "content_type")
    if reason is not None and not (reason == "empty" and shown):  # else its parts say why
        shown = [reason]
    for part in shown:
        aside.left_out(part)
    if reason is not None:
        return []
    model = string_in(metadata, "model_slug")
    return messages_of(
        text,
        id_=whole(key),
        role=role,
        speaker=string_in(author, "name"),
        created_at=created_at,
        metadata={"model": model} if model else {},
    )


def _text(content: Mapping[str, Any]) -> str:
    """Return the text of a content: its parts, some of which may be objects, or its text."""
    found = [string_in(content, "text") or ""]
    for part in as_list(content.get("parts"), "parts"):
        if isinstance(part, str):
            found.append(part)
        elif part is not None:  # an image has no text; what was spoken has
            found.append(string_in(as_map(part, "parts"), "text") or "")
    return _CITATIONS.sub("", "\n\n".join(filter(None, found)))
