"""Read lists of messages as programs keep them: those of chat models, and those of LangChain.

In: a JSON file, which is a list of messages, a list of conversations, or one of these a line.
Out: conversations. Reads files.

Such lists rarely have ids, so they are made of what was said before: a list that has grown adds
its new messages only, and a list that begins alike but continues differently replaces nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from os import PathLike
from typing import Any

from memoria.errors import InvalidInputError
from memoria.importers.chats.archive import open_export
from memoria.importers.chats.parsing import (
    Aside,
    OnInvalid,
    OnLeftOut,
    as_list,
    as_map,
    digest,
    items_of,
    map_in,
    messages_of,
    only_says_done,
    reasons_in,
    string_in,
    texts_of,
    time_in,
    whole,
)
from memoria.types import Conversation, Message, Role

FILES = r".*\.jsonl?"
ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "AIMessageChunk": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
TEXTS = ("text", "input_text", "output_text")


def read_openai(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Conversation]:
    """Read messages as chat models take them: ``{"role": "user", "content": "..."}``.

    A content may be a string or blocks, of which those with text count. ``name`` is the speaker;
    ``id`` and ``created_at`` (or ``timestamp``) are taken where they are given.

    Parameters
    ----------
    path
        A JSON file, or a zip or folder of some. It holds a list of messages; or conversations,
        each a list or an object with ``messages``; as one list, or one on each line.
    on_invalid
        Called with the error about each message or conversation that is wrong, which is then
        passed over; None raises the first.
    on_left_out
        Called with the reason for each message or part of one that is left out: ``tool call``,
        ``result of a tool``, ``thoughts``, ``picture``, ``recording``, ``file``,
        ``tool that says done`` or ``empty``.

    Raises
    ------
    InvalidInputError
        A file can't be read, or a part of it is wrong and ``on_invalid`` is None; the message
        names file, message and field.
    """
    return _read(path, "openai", _openai, Aside(on_invalid, on_left_out))


def read_langchain(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Conversation]:
    """Read what LangChain's ``messages_to_dict`` returns: ``{"type": "human", "data": {...}}``.

    Parameters
    ----------
    path
        A JSON file, or a zip or folder of some; see `read_openai`.
    on_invalid
        Called with the error about each message or conversation that is wrong, which is then
        passed over; None raises the first.
    on_left_out
        Called with the reason for each message or part of one that is left out: ``tool call``,
        ``result of a tool``, ``thoughts``, ``picture``, ``recording``, ``file``,
        ``tool that says done`` or ``empty``.

    Raises
    ------
    InvalidInputError
        A file can't be read, or a part of it is wrong and ``on_invalid`` is None; the message
        names file, message and field.
    """
    return _read(path, "langchain", _langchain, Aside(on_invalid, on_left_out))


def is_message(item: object) -> bool:
    """Tell whether an element is a message, and not a conversation."""
    return isinstance(item, dict) and "messages" not in item


def _read(
    path: str | PathLike[str],
    source: str,
    fields_of: Callable[[Mapping[str, Any]], dict[str, Any]],
    aside: Aside,
) -> Iterator[Conversation]:
    with open_export(path) as export:
        for name in export.needed(FILES, "file with the ending .json or .jsonl"):
            items = items_of(export, name, "element")
            for place, item in items:
                fields: Mapping[str, Any] = {}
                messages: Iterable[tuple[str, Any]] = ()
                if is_message(item):  # and so are all that follow
                    messages = chain([(place, item)], items)
                else:
                    with aside.at(place):
                        fields = {"messages": item} if isinstance(item, list) else item
                        messages = _messages_in(as_map(fields, "a conversation"), place)
                said = _Chain(fields_of, aside)
                said.add(messages)
                found = None
                with aside.at(place):
                    found = said.conversation(fields, source)
                if found is not None:
                    yield found


def _messages_in(fields: Mapping[str, Any], place: str) -> list[tuple[str, Any]]:
    """Return the messages of a conversation with their places."""
    numbered = enumerate(as_list(fields["messages"], "messages"), 1)
    return [(f"{place}: message {number}", item) for number, item in numbered]


class _Chain:
    """The messages of a conversation, each with an id that is made of all before it."""

    def __init__(
        self, fields_of: Callable[[Mapping[str, Any]], dict[str, Any]], aside: Aside
    ) -> None:
        self._fields_of = fields_of
        self._aside = aside
        self._messages: list[Message] = []
        self._begin: str | None = None
        self._said = ""

    def conversation(self, fields: Mapping[str, Any], source: str) -> Conversation | None:
        """Return the conversation; one without an id is named by how it begins."""
        if not self._messages:
            return None
        id_ = string_in(fields, "conversation_id") or string_in(fields, "id")
        return Conversation(
            id=id_ or self._begin or self._said,
            messages=self._messages,
            title=string_in(fields, "title"),
            source=source,
        )

    def add(self, items: Iterable[tuple[str, Any]]) -> None:
        """Read messages, each with its place."""
        for place, item in items:
            with self._aside.at(place):
                self._add(self._fields_of(as_map(item, "a message")))

    def _add(self, fields: dict[str, Any]) -> None:
        content, called = fields.pop("content"), fields.pop("called")
        text, reasons = whole(texts_of(content, TEXTS)).strip(), reasons_in(content)
        if called and "tool call" not in reasons:
            reasons.append("tool call")
        for reason in reasons or ([] if text else ["empty"]):
            self._aside.left_out(reason)
        if not text:
            return
        if fields["role"] == "tool" and only_says_done(text):
            self._aside.left_out("tool that says done")
            return
        said = digest(self._said, fields["role"], fields["speaker"], text)
        self._messages += messages_of(text, id_=fields.pop("id") or said, **fields)
        self._said = said
        if self._begin is None and fields["role"] != "system":
            self._begin = said


def _openai(fields: Mapping[str, Any]) -> dict[str, Any]:
    role = string_in(fields, "role")
    if role is None:
        raise InvalidInputError("role is missing: a message has role and content", field="role")
    return {
        "role": ROLES.get(role, "other"),
        "content": fields.get("content"),
        "called": bool(fields.get("tool_calls") or fields.get("function_call")),
        "speaker": string_in(fields, "name"),
        "id": string_in(fields, "id"),
        "created_at": time_in(fields, "created_at") or time_in(fields, "timestamp"),
    }


def _langchain(fields: Mapping[str, Any]) -> dict[str, Any]:
    type_, data = string_in(fields, "type"), map_in(fields, "data")
    if type_ is None or "content" not in data:
        raise InvalidInputError(
            "a message has type, and data with content, as messages_to_dict makes them",
            field="type" if type_ is None else "content",
        )
    role = string_in(data, "role") if type_ == "chat" else type_
    return {
        "role": ROLES.get(role or "", "other"),
        "content": data["content"],
        "called": bool(data.get("tool_calls")),
        "speaker": string_in(data, "name"),
        "id": string_in(data, "id"),
        "created_at": None,
    }
