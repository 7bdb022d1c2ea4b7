"""The operations of the HTTP API: the calls of an agent, and those of programs.

In: an `AgentMemory`, checked arguments. Out: `Answer`s, and the table that routes and description
are made from. Reads; writes where an operation says so.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from memoria.agents.calls import FORGETTING, READING, WRITING, Call
from memoria.agents.http import answers, lists
from memoria.errors import InvalidInputError
from memoria.types import Message

if TYPE_CHECKING:  # loaded with the database, after the start
    from memoria.agents.agent_memory import AgentMemory
    from memoria.agents.answer import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation.

    Attributes
    ----------
    name
        Name, and path below that of the API.
    call
        What it does, with its arguments: the members of a JSON body, or of the query.
    method
        ``GET`` where nothing is kept of the request, not even a recall.
    answers
        Type of its answer.
    """

    name: str
    call: Call
    method: Literal["GET", "POST"]
    answers: type


async def append(
    memory: AgentMemory, /, conversation_id: str, messages: list[Message], source: str | None = None
) -> Answer:
    """Append messages to a conversation, which becomes a part of the memory.

    No language model is asked. Messages that are there already, with their id, role and text, are
    left out, so a request may be sent again. The id of another message is an error. Messages
    without an id are new, unless the request is sent again with its ``Idempotency-Key``.

    Args:
        conversation_id: Identifier of the conversation; it may be new.
        messages: Messages in the order in which they were said, at most 1000.
        source: Where the conversation comes from, such as slack; empty for your own agent.
    """
    return await memory.append(conversation_id, messages, source=source or "")


async def memories(memory: AgentMemory, /, limit: int = 100, cursor: str | None = None) -> Answer:
    """List the memories of the scope, in the order of their ids.

    Args:
        limit: Most memories of a page, 1 to 1000.
        cursor: The next_cursor of the page before; empty for the first page.
    """
    from memoria.agents.answer import Answer
    from memoria.serialize import plain_memory

    page = await memory.retriever.list(limit=limit, after=_place(cursor))
    listed = [plain_memory(each) for each in page.memories]
    return Answer(text="", data={"memories": listed, "next_cursor": _cursor(page.next)})


async def scopes(memory: AgentMemory, /, limit: int = 100, cursor: str | None = None) -> Answer:
    """List the scopes that the credential opens.

    Args:
        limit: Most scopes of a page, 1 to 1000.
        cursor: The next_cursor of the page before; empty for the first page.
    """
    from memoria.agents.agent_reader import MOST_COUNTED
    from memoria.agents.answer import Answer

    after = _place(cursor) or ""
    own = memory.retriever.scope
    rest: list[dict[str, Any]] = [
        {
            "scope": scope,
            "scope_size": min(size, MOST_COUNTED),
            "scope_size_exact": size <= MOST_COUNTED,
            "read_only": memory.read_only or scope != own,
        }
        for scope, size in sorted((await memory.sizes()).items())
        if scope > after
    ]
    more = rest[limit - 1]["scope"] if len(rest) > limit else None
    return Answer(text="", data={"scopes": rest[:limit], "next_cursor": _cursor(more)})


def _cursor(place: str | None) -> str | None:
    """Return a cursor for the place where a page ended; clients take it as it is."""
    if place is None:
        return None
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def _place(cursor: str | None) -> str | None:
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as exc:
        raise InvalidInputError(
            "cursor must be the next_cursor of a page before", field="cursor"
        ) from exc


_ANSWERS = {
    "recall": answers.Recalled,
    "explain": answers.Explained,
    "open": answers.Opened,
    "status": answers.Status,
    "memories": lists.MemoryList,
    "scopes": lists.ScopeList,
    "remember": answers.Remembered,
    "feedback": answers.Noted,
    "append": answers.Appended,
    "forget": answers.Forgotten,
}
_GOT = {"status", "memories", "scopes"}


def _operation(call: Call) -> Operation:
    name = call.name.removeprefix("memory_")
    method: Literal["GET", "POST"] = "GET" if name in _GOT else "POST"
    return Operation(name=name, call=call, method=method, answers=_ANSWERS[name])


#: Every operation, whatever a server allows.
OPERATIONS = tuple(
    _operation(call)
    for call in (
        *READING,
        Call(ask=memories),
        Call(ask=scopes),
        *WRITING,
        Call(ask=append, does="writes"),
        FORGETTING,
    )
)
