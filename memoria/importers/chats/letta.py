"""Read what Letta exports: an agent file (``.af``), or the passages of its archive.

In: JSON. Out: the conversation of an agent, its blocks and files as documents, its passages as
memories. Reads files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

from memoria._support import foreign
from memoria.errors import InvalidInputError
from memoria.importers.chats.parsing import (
    Aside,
    OnInvalid,
    OnLeftOut,
    as_list,
    as_map,
    map_in,
    messages_of,
    string_in,
    texts_of,
    time_in,
)
from memoria.importers.chats.revisions import sections_of
from memoria.importers.chats.stores import memory_of, read_objects
from memoria.types import Conversation, Document, Item, Message, Role

SOURCE = "letta"
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}
_SAY = "send_message"


def read_letta(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Item]:
    """Read an agent file of Letta (``.af``), or a list of passages.

    Parameters
    ----------
    path
        The file; or a folder or a zip of some.
    on_invalid
        Called with the error about each agent or passage that is wrong, which is then passed over;
        None raises the first.
    on_left_out
        Called with the reason for what is left out: ``tool call``, ``result of a tool``,
        ``thoughts``,
        ``internal``, ``deleted`` or ``empty``.

    Raises
    ------
    InvalidInputError
        The path can't be read, or a part is wrong and ``on_invalid`` is None.
    """
    aside = Aside(on_invalid, on_left_out)
    return read_objects(path, ("passages", "archival_memory"), _parts, aside)


def _parts(fields: Mapping[str, Any], aside: Aside) -> Iterator[Item]:
    """Yield what an agent file, or a passage, holds."""
    if isinstance(fields.get("passage"), dict):  # in the answer of a search
        fields = fields["passage"]
    if {"text", "content"} & fields.keys() and "messages" not in fields:
        yield from _passage(fields, aside)
        return
    if not {"agents", "messages", "blocks", "core_memory", "files"} & fields.keys():
        raise InvalidInputError(
            "this is neither an agent file of Letta (with agents or messages) nor a passage "
            "(with text)",
            field="text",
        )
    agents = as_list(fields.get("agents"), "agents") if "agents" in fields else [fields]
    blocks = [*as_list(fields.get("blocks"), "blocks")]
    for item in agents:
        agent = as_map(item, "agents")
        name = string_in(agent, "name") or "agent"
        id_ = string_in(agent, "id") or name
        said = [as_map(each, "messages") for each in as_list(agent.get("messages"), "messages")]
        # An agent that speaks by calls of a tool thinks next to them; other agents speak there.
        thinks = any(name == _SAY for each in said for name, _ in _calls(each))
        messages = [
            message
            for number, each in enumerate(said, 1)
            for message in _message(each, f"{number}", aside, thinks=thinks)
        ]
        if messages:
            yield Conversation(id=id_, messages=messages, title=name, source=SOURCE)
        blocks += as_list(agent.get("core_memory"), "core_memory")
    for number, item in enumerate(blocks, 1):
        block = as_map(item, "blocks")
        label, value = string_in(block, "label") or str(number), string_in(block, "value")
        if not (value or "").strip():
            aside.left_out("empty")
        elif value:
            made = time_in(block, "updated_at") or time_in(block, "created_at")
            yield Document(
                id=f"block/{string_in(block, 'id') or label}",
                title=label,
                sections=sections_of(value),
                source=SOURCE,
                created_at=made,
            )
    for item in as_list(fields.get("files"), "files"):
        file = as_map(item, "files")
        title = string_in(file, "file_name") or string_in(file, "original_file_name")
        text = string_in(file, "content")
        if not text:
            aside.left_out("empty")
        else:
            yield Document(
                id=f"file/{string_in(file, 'id') or title}",
                title=title,
                sections=sections_of(text),
                source=SOURCE,
                created_at=time_in(file, "created_at"),
            )


def _passage(fields: Mapping[str, Any], aside: Aside) -> Iterator[Item]:
    text = string_in(fields, "text") or string_in(fields, "content") or ""
    if not text.strip() or fields.get("is_deleted") is True:
        aside.left_out("empty" if not text.strip() else "deleted")
        return
    yield memory_of(
        SOURCE,
        string_in(fields, "id") or text,
        text,
        tags=[str(tag) for tag in as_list(fields.get("tags"), "tags")],
        created_at=time_in(fields, "created_at") or time_in(fields, "timestamp"),
        metadata={
            **map_in(fields, "metadata"),
            **{name: fields[name] for name in ("file_name", "source_id") if fields.get(name)},
        },
    )


def _calls(fields: Mapping[str, Any]) -> list[tuple[object, dict[str, Any]]]:
    """Return the tools that a message calls, each with its arguments."""
    calls = (as_map(item, "tool_calls") for item in as_list(fields.get("tool_calls"), "tool_calls"))
    called = [as_map(call.get("function") or {}, "function") for call in calls]
    return [(each.get("name"), foreign.json_map(string_in(each, "arguments"))) for each in called]


def _message(
    fields: Mapping[str, Any], number: str, aside: Aside, *, thinks: bool
) -> list[Message]:
    """Return a message; the words of an agent may be in a call of a tool."""
    role = string_in(fields, "role") or ""
    text = texts_of(fields.get("content")) or string_in(fields, "text") or ""
    if role == "tool":
        aside.left_out("result of a tool")
        return []
    calls = _calls(fields)
    said = [] if role == "assistant" and calls and thinks else [text]
    if text.strip() and not said:
        aside.left_out("thoughts")
    for name, given in calls:
        if name == _SAY and isinstance(given.get("message"), str):
            said.append(given["message"])
        else:
            aside.left_out("tool call")
    packed = foreign.json_map(text) if role == "user" else {}
    if packed.get("type") == "user_message" and isinstance(packed.get("message"), str):
        said = [packed["message"]]
    elif packed.get("type") or role not in _ROLES:
        aside.left_out("internal")
        return []
    return messages_of(
        "\n\n".join(filter(None, said)),
        id_=string_in(fields, "id") or number,
        role=_ROLES[role],
        created_at=time_in(fields, "created_at"),
    )
