"""What a hook of a coding agent asks for: the context of a session or a prompt; a turn to keep.

In: a `HookCall`. Out: a text for the model, fenced as data, or none. Writes the messages of a turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from memoria._support.checks import check_number, check_whole
from memoria._support.wording import kind_of
from memoria.agents.kinds import PROMPT_TOKENS, SESSION_TOKENS, Event
from memoria.agents.transcripts import message_of
from memoria.agents.using import cited_in
from memoria.errors import EmptyScopeError, InvalidInputError
from memoria.types import Message

if TYPE_CHECKING:  # a hook that asks a server needs no driver
    from memoria.agents.agent_memory import AgentMemory
    from memoria.recall.context.config import ContextConfig

RECENT = 20
_LEAST_TOKENS = 100
_MOST_S = 10.0
# A command of the host, such as /clear. With words behind it, the words may ask for something.
_COMMAND = re.compile(r"/[\w:.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """What happened in a session of a coding agent.

    Attributes
    ----------
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
    budget_tokens
        Tokens of the answer; 100 to 2,000. None: 500 for a prompt, 2,000 at the start of a session.
    min_relevance, min_best_relevance
        As of `ContextConfig`; None: as the retriever is set.
    """

    event: Event
    scope: str
    harness: str
    session_id: str = ""
    prompt: str = ""
    messages: tuple[Message, ...] = ()
    deadline_s: float = 1.0
    budget_tokens: int | None = None
    min_relevance: float | None = None
    min_best_relevance: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it needs no memory: nothing to keep, or a prompt that asks nothing.

        A prompt without a letter or digit, or with nothing but a command of the host, asks nothing.
        Whether any other prompt does, the recall finds out.
        """
        if self.event == "stop":
            return not (self.messages and self.session_id)
        prompt = self.prompt.strip()
        asks = any(map(str.isalnum, prompt)) and not _COMMAND.fullmatch(prompt)
        return self.event == "prompt" and not asks

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
        """Make a call from the data that `plain` returned."""
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
            budget_tokens=_budget(value.get("budget_tokens")),
            min_relevance=_probability(value, "min_relevance"),
            min_best_relevance=_probability(value, "min_best_relevance"),
            **{key: _string(value, key) for key in ("scope", "harness", "session_id", "prompt")},
        )


def _budget(value: Any) -> int | None:
    if value is None:
        return None
    return check_whole(value, "budget_tokens", low=_LEAST_TOKENS, high=SESSION_TOKENS)


def _probability(value: Mapping[str, Any], key: str) -> float | None:
    found = value.get(key)
    return None if found is None else check_number(found, key, low=0, high=1)


def _string(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key, "")
    if not isinstance(found, str):
        raise InvalidInputError(f"{key} must be a string", field=key)
    return found


async def answer_hook(memory: AgentMemory, call: HookCall) -> str:
    """Return what the model gets to read; "" if there is nothing to say."""
    if call.is_empty:
        return ""
    if call.event == "stop":
        await _keep(memory, call)
        await memory.note_used(cited_in(_reply(call)))
        return ""
    try:
        if call.event == "session-start":
            budget = call.budget_tokens or SESSION_TOKENS
            return (await memory.recent(limit=RECENT, max_tokens=budget)).text
        found = await memory.recall(
            call.prompt,
            max_tokens=call.budget_tokens or PROMPT_TOKENS,
            deadline_s=call.deadline_s,
            context=_context(memory, call),
        )
    except EmptyScopeError:
        return ""
    return found.text if found.data["memories"] else ""


def _context(memory: AgentMemory, call: HookCall) -> ContextConfig:
    """Return the settings of the context, with the limits of the call."""
    context = memory.retriever.config.context
    least, best = call.min_relevance, call.min_best_relevance
    return replace(
        context,
        min_relevance=context.min_relevance if least is None else least,
        min_best_relevance=context.min_best_relevance if best is None else best,
    )


def _reply(call: HookCall) -> str:
    """Return what the assistant said since the user's last message."""
    said: list[str] = []
    for message in reversed(call.messages):
        if message.role == "user":
            break
        said.append(message.text)
    return "\n".join(reversed(said))


async def _keep(memory: AgentMemory, call: HookCall) -> None:
    """Append what is new of a session; what is there already is known by its ids.

    A hook that asks the database itself has no time to load a model: vectors are made by later
    writes.
    """
    if memory.read_only:
        return
    from memoria.embed import Postponed  # only to write; the other calls need not load them
    from memoria.remember.conversations import ConversationWriter, append_first

    retriever = memory.retriever
    embedder, facts = retriever.embedder, await retriever.server_facts()
    if embedder is None and facts.embedder is not None and facts.dimensions is not None:
        embedder = Postponed(name=facts.embedder, dimensions=facts.dimensions)
    writer = ConversationWriter(retriever.store, scope=retriever.scope, embedder=embedder)
    await append_first(writer, call.session_id, call.messages, source=call.harness)
