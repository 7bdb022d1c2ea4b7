"""Read the export of Claude.

In: the zip, the folder it was unpacked to, or its file ``conversations.json``. Out: conversations,
and documents: artifacts, the texts of projects, and Claude's memories. Reads files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from os import PathLike
from typing import Any

from memoria.errors import InvalidInputError
from memoria.importers.chats.archive import open_export
from memoria.importers.chats.artifacts import Artifacts
from memoria.importers.chats.parsing import (
    Aside,
    OnInvalid,
    OnLeftOut,
    as_list,
    as_map,
    map_in,
    messages_of,
    read_elements,
    reasons_in,
    string_in,
    texts_of,
    time_in,
    whole,
)
from memoria.importers.chats.revisions import sections_of, with_documents
from memoria.importers.chats.tree import all_lines, in_order, line_to
from memoria.types import Conversation, Document, Item, Message, Role

SOURCE = "claude"
FILES = r"conversations(-\d+)?\.json"
#: Newer exports have a file for each project and account, in a folder.
PROJECTS = r"(?:.*/)?projects(?:\.json|/[^/]+\.json)"
MEMORIES = r"(?:.*/)?memories(?:\.json|/[^/]+\.json)"
ROLES: Mapping[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}


def read_claude(
    path: str | PathLike[str],
    *,
    all_branches: bool = False,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Item]:
    """Read the export of Claude, one conversation at a time, then its projects and memories.

    The text of what was attached to a message follows the text of the message. An artifact becomes
    a document for each of its revisions, which follow its conversation.

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
        Called with the reason for each message or part of one that is left out: ``empty``,
        ``abandoned branch``, ``tool call``, ``result of a tool``, ``thoughts``, ``picture``,
        ``file`` (one without a text), or ``edit of an artifact`` (one that does not fit).

    Raises
    ------
    InvalidInputError
        The export can't be read, or a part of it is wrong and ``on_invalid`` is None; the message
        names file, conversation, message and field.
    """
    aside = Aside(on_invalid, on_left_out)
    conversation = partial(_conversation, all_branches=all_branches)
    with open_export(path) as export:
        names = export.needed(FILES, "export of Claude (conversations.json)")
        yield from read_elements(export, names, "conversation", conversation, aside)
        if not export.single:
            yield from read_elements(export, export.matching(PROJECTS), "project", _project, aside)
            yield from read_elements(export, export.matching(MEMORIES), "memory", _memory, aside)


def _conversation(fields: Mapping[str, Any], aside: Aside, *, all_branches: bool) -> Iterable[Item]:
    if "chat_messages" not in fields:
        raise InvalidInputError(
            "chat_messages is missing: this is not a Claude export", field="chat_messages"
        )
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    parents: dict[str, str | None] = {}
    for number, item in enumerate(as_list(fields["chat_messages"], "chat_messages"), 1):
        with aside.at(f"message {number}"):
            message = as_map(item, "chat_messages")
            id_ = string_in(message, "uuid") or str(number)
            parents[id_] = string_in(message, "parent_message_uuid")
            found[id_] = f"message {number}", message
    if None in parents.values():  # an older export, which has but one line
        order = list(parents)
    elif all_branches:
        order = all_lines(parents)
    else:
        order = line_to(parents, string_in(fields, "current_leaf_message_uuid"))
    made: dict[str, list[Message]] = {}
    artifacts = Artifacts(aside)
    for id_ in order:
        place, message = found[id_]
        with aside.at(place):
            if messages := _messages(id_, message, aside, artifacts):
                made[id_] = messages
    for _ in range(len(parents) - len(order)):
        aside.left_out("abandoned branch")
    messages = in_order(order, parents, made)
    if not messages and not artifacts.revisions:
        return ()
    conversation = Conversation(
        id=string_in(fields, "uuid") or str(messages[0].id if messages else order[0]),
        messages=messages,
        title=string_in(fields, "name"),
        source=SOURCE,
    )
    return with_documents(conversation, artifacts.revisions, parents, made)


def _project(fields: Mapping[str, Any], _: Aside) -> Iterator[Item]:
    """Yield the instructions of a project, and the texts that were given to it."""
    id_, name = string_in(fields, "uuid") or "", string_in(fields, "name")
    parts = (string_in(fields, key) for key in ("description", "prompt_template"))
    text = "\n\n".join(filter(None, parts))
    made = time_in(fields, "created_at")
    if id_ and (name or text):
        yield Document(
            id=f"project/{id_}",
            title=name,
            sections=sections_of(text),
            source=SOURCE,
            created_at=made,
        )
    for number, item in enumerate(as_list(fields.get("docs"), "docs"), 1):
        document = as_map(item, "docs")
        yield Document(
            id=f"project/{id_}/{string_in(document, 'uuid') or number}",
            title=string_in(document, "filename"),
            sections=sections_of(string_in(document, "content") or ""),
            source=SOURCE,
            created_at=time_in(document, "created_at") or made,
            metadata={"project": name or id_},
        )


def _memory(fields: Mapping[str, Any], _: Aside) -> Iterator[Item]:
    """Yield what Claude remembers of its user, and of each project."""
    account = string_in(fields, "account_uuid") or "account"
    texts = {"": string_in(fields, "conversations_memory")}
    projects = map_in(fields, "project_memories")
    texts |= {whole(name): string_in(projects, name) for name in projects}
    for name, text in texts.items():
        if text:
            title = f"Memory of Claude{', project ' if name else ''}{name}"
            id_ = f"memory/{account}" + (f"/{name}" if name else "")
            yield Document(id=id_, title=title, sections=sections_of(text), source=SOURCE)


def _messages(
    id_: str, fields: Mapping[str, Any], aside: Aside, artifacts: Artifacts
) -> list[Message]:
    # Older exports have a text instead of the content. Where an export has both, the text contains
    # only notices for the parts that could not be shown.
    content = fields.get("content") or string_in(fields, "text")
    created_at = time_in(fields, "created_at")
    text = artifacts.read(texts_of(content), content, id_, created_at)
    names, read = [], []
    for item in as_list(fields.get("attachments"), "attachments"):
        attachment = as_map(item, "attachments")
        name = string_in(attachment, "file_name")
        if content := string_in(attachment, "extracted_content"):
            text += f"\n\n{name or 'attachment'}:\n{content}"
            read.append(name or "attachment")
        if name:
            names.append(name)
    reasons = reasons_in(fields.get("content"))
    files = as_list(fields.get("files"), "files")
    unread = [
        each for each in files if not isinstance(each, dict) or each.get("file_name") not in read
    ]
    shown = sum(reason in ("picture", "file") for reason in reasons)  # each block shows a file
    reasons += ["file"] * (len(unread) - shown)
    for reason in reasons:
        if reason != "tool call":  # counted where it is read: it may write an artifact
            aside.left_out(reason)
    if not text.strip():
        if not reasons:
            aside.left_out("empty")
        return []
    return messages_of(
        text,
        id_=id_,
        role=ROLES.get(string_in(fields, "sender") or "", "other"),
        created_at=created_at,
        metadata={"attachments": names} if names else {},
    )
