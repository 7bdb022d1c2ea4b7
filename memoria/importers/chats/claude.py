"""Read the export of Claude.

In: the zip, the folder it was unpacked to, or its file ``conversations.json``. Out: conversations.
Reads files. What stands in ``projects.json`` and ``memories.json`` is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from os import PathLike
from typing import Any

from memoria.errors import InvalidInputError
from memoria.importers.chats.parsing import (
    Aside,
    OnInvalid,
    OnLeftOut,
    as_list,
    as_map,
    messages_of,
    read_export,
    string_in,
    texts_of,
    time_in,
)
from memoria.importers.chats.tree import all_lines, in_order, line_to
from memoria.types import Conversation, Message, Role

FILES = r"conversations(-\d+)?\.json"
ROLES: Mapping[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}


def read_claude(
    path: str | PathLike[str],
    *,
    all_branches: bool = False,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Conversation]:
    """Read the export of Claude, one conversation at a time.

    The text of what was attached to a message follows the text of the message.

    Parameters
    ----------
    path
        The zip, the folder it was unpacked to, or its ``conversations.json``.
    all_branches
        Also read what was left when a question was edited or an answer made again, where the
        export says which message answers which.
    on_invalid
        Called with the error about each message or conversation that is wrong, which is then
        passed over; None raises the first.
    on_left_out
        Called with the reason for each message that is left out: ``empty``, which it also is if it
        holds calls of tools and thoughts only.

    Raises
    ------
    InvalidInputError
        The export can't be read, or a part of it is wrong and ``on_invalid`` is None; the message
        names file, conversation, message and field.
    """
    parse = partial(_conversation, all_branches=all_branches)
    aside = Aside(on_invalid, on_left_out)
    return read_export(path, FILES, "export of Claude (conversations.json)", parse, aside)


def _conversation(
    fields: Mapping[str, Any], aside: Aside, *, all_branches: bool
) -> Conversation | None:
    if "chat_messages" not in fields:
        raise InvalidInputError(
            "chat_messages is missing: this is not a Claude export", field="chat_messages"
        )
    made: dict[str, list[Message]] = {}
    parents: dict[str, str | None] = {}
    for number, item in enumerate(as_list(fields["chat_messages"], "chat_messages"), 1):
        with aside.at(f"message {number}"):
            message = as_map(item, "chat_messages")
            id_ = string_in(message, "uuid") or str(number)
            parents[id_] = string_in(message, "parent_message_uuid")
            if found := _messages(id_, message, aside):
                made[id_] = found
    if None in parents.values():  # an older export, which has but one line
        order = list(parents)
    elif all_branches:
        order = all_lines(parents)
    else:
        order = line_to(parents, string_in(fields, "current_leaf_message_uuid"))
    messages = in_order(order, parents, made)
    if not messages:
        return None
    return Conversation(
        id=string_in(fields, "uuid") or str(messages[0].id),
        messages=messages,
        title=string_in(fields, "name"),
        source="claude",
    )


def _messages(id_: str, fields: Mapping[str, Any], aside: Aside) -> list[Message]:
    # The text stands for the content in older exports; where both are, it has words in place of
    # what could not be shown.
    text = texts_of(fields.get("content") or string_in(fields, "text"))
    names = []
    for item in as_list(fields.get("attachments"), "attachments"):
        attachment = as_map(item, "attachments")
        name = string_in(attachment, "file_name")
        if content := string_in(attachment, "extracted_content"):
            text += f"\n\n{name or 'attachment'}:\n{content}"
        if name:
            names.append(name)
    if not text.strip():
        aside.left_out("empty")
        return []
    return messages_of(
        text,
        id_=id_,
        role=ROLES.get(string_in(fields, "sender") or "", "other"),
        created_at=time_in(fields, "created_at"),
        metadata={"attachments": names} if names else {},
    )
