"""What a hook of a coding agent asks for: the context of a session or a prompt; a turn to keep.

In: a `HookCall`. Out: a text for the model, fenced as data, or none. Writes the messages of a turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

from memoria._support.checks import check_number
from memoria._support.wording import kind_of
from memoria.errors import EmptyScopeError, InvalidInputError
from memoria.serve.agent.kinds import Event
from memoria.serve.agent.transcripts import message_of
from memoria.types import Message

if TYPE_CHECKING:  # a hook that asks a server needs no driver
    from memoria.serve.agent.memory import AgentMemory

#: Tokens of a context: a host takes 10,000 characters, and a token is four bytes.
CONTEXT_TOKENS = 2_000
RECENT = 20
_MOST_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """What happened in a session of a coding agent.

    Attributes
    ----------
    event
        Which hook it is.
    scope
        Whose memory is meant.
    harness
        Name of the coding agent: the source of what is kept.
    session_id
        Identifier of the session, which is kept as a conversation.
    prompt
        What the user has just asked; only with ``prompt``.
    messages
        The last messages of the session; only with ``stop``.
    deadline_s
        Time for a recall; seconds, > 0.
    """

    event: Event
    scope: str
    harness: str
    session_id: str = ""
    prompt: str = ""
    messages: tuple[Message, ...] = ()
    deadline_s: float = 1.0

    def plain(self) -> dict[str, Any]:
        """Return the same as data that JSON can hold."""
        said = [
            {"role": one.role, "text": one.text, "id": one.id}
            | ({} if one.created_at is None else {"created_at": one.created_at.isoformat()})
            for one in self.messages
        ]
        return asdict(self) | {"messages": said}

    @classmethod
    def of(cls, value: object) -> HookCall:
        """Make a call from the data that `plain` returned.

        Raises
        ------
        InvalidInputError
            It is not such data.
        """
        if not isinstance(value, dict) or value.get("event") not in get_args(Event):
            raise InvalidInputError("this is not a call of a hook", field="event")
        listed = value.get("messages") or []
        if not isinstance(listed, list):
            raise InvalidInputError(
                f"messages must be a list, got {kind_of(listed)}", field="messages"
            )
        given = [message_of(one) for one in listed if isinstance(one, dict)]
        return cls(
            event=value["event"],
            messages=tuple(one for one in given if one is not None),
            deadline_s=check_number(
                value.get("deadline_s", 1.0), "deadline_s", low=0, high=_MOST_S, above_low=True
            ),
            **{key: _string(value, key) for key in ("scope", "harness", "session_id", "prompt")},
        )


def _string(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key, "")
    if not isinstance(found, str):
        raise InvalidInputError(f"{key} must be a string", field=key)
    return found


async def answer_hook(memory: AgentMemory, call: HookCall) -> str:
    """Return what the model gets to read; "" if there is nothing to say.

    Raises
    ------
    MemoriaError
        The memory can't be read or written.
    """
    if call.event == "stop":
        await _keep(memory, call)
        return ""
    try:
        if call.event == "session-start":
            return (await memory.recent(limit=RECENT, max_tokens=CONTEXT_TOKENS)).text
        if not call.prompt.strip():
            return ""
        found = await memory.recall(
            call.prompt, max_tokens=CONTEXT_TOKENS, deadline_s=call.deadline_s
        )
    except EmptyScopeError:
        return ""
    return found.text if found.data["memories"] else ""


async def _keep(memory: AgentMemory, call: HookCall) -> None:
    """Append what is new of a session; what is there already is known by its ids."""
    if memory.read_only or not call.messages or not call.session_id:
        return
    writer = memory.retriever.conversations()
    await writer.append(call.session_id, call.messages, source=call.harness)
