"""How far a conversation has been written: what the next message continues.

In: the metadata of a conversation's first session. Out: a `ConversationState`, and the metadata
that keeps it. Touches nothing.

The state stands in the graph, so that an export carries it to another database, and forgetting a
conversation forgets it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from memoria._support.foreign import json_map
from memoria.remember.ids import conversation_prefix, number_in, session_id
from memoria.types import Message

#: Key of the metadata under which the state stands.
KEY = "conversation"
#: How many of the last writes can be told from new ones.
MAX_TOKENS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationState:
    """How far a conversation has been written.

    Attributes
    ----------
    messages
        How many messages it has, those included that were left out.
    taken
        Largest number that names one of them; see `named`.
    sessions
        How many sessions it has.
    last
        Id of the memory that the next message follows; None if there is none.
    last_at
        When the last message was said; ISO 8601, or None.
    digest
        Hash of all of its messages, in order.
    title
        Its title, or None.
    tokens
        Names of its last writes: a write whose reply was lost is not written again.
    more
        Metadata of the conversation itself.
    """

    messages: int = 0
    taken: int = 0
    sessions: int = 0
    last: str | None = None
    last_at: str | None = None
    digest: str = ""
    title: str | None = None
    tokens: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, metadata: str | None) -> Self | None:
        """Read the state from metadata as it is stored; None if there is none."""
        try:
            more = json_map(metadata)
            fields = more.pop(KEY)
            fields["tokens"] = tuple(fields["tokens"])
            return cls(**fields, more=more)
        except (KeyError, TypeError):
            return None

    def metadata(self) -> dict[str, Any]:
        """Return the metadata that keep the state."""
        fields = asdict(self)
        return {**fields.pop("more"), KEY: fields}

    def with_token(self, token: str) -> Self:
        """Return the state with the name of its latest write; the oldest name falls out."""
        return replace(self, tokens=(*self.tokens, token)[-MAX_TOKENS:])

    @property
    def said_at(self) -> datetime | None:
        """Return when the last message was said."""
        return None if self.last_at is None else datetime.fromisoformat(self.last_at)


def state_of_ids(ids: Iterable[str], source: str, conversation: str) -> ConversationState:
    """Return the state of a conversation whose first session was forgotten, from what it has left.

    Parameters
    ----------
    ids
        Ids of its memories and of its sessions.

    Examples
    --------
    >>> state = state_of_ids(["c:7", "c:9", "c:9#2", "@session:c:2"], "", "c")
    >>> state.messages, state.sessions, state.last
    (9, 2, 'c:9')
    """
    sessions = session_id(source, conversation, 0)[:-1]
    prefix = conversation_prefix(source, conversation)
    numbers = {"": 0}
    messages: list[tuple[int, int, str, int, str]] = []
    for id_ in ids:
        if id_.startswith(sessions):
            numbers[id_] = number_in(id_.removeprefix(sessions))
        elif ":" not in (rest := id_.removeprefix(prefix)):  # else of a source of this name
            whole, _, part = rest.partition("#")
            # Of the parts of the last message the first one is the last memory.
            messages.append((number_in(whole), len(whole), whole, -number_in(part), id_))
    last = max(messages, default=None)
    return ConversationState(
        messages=max(len(messages), last[0]) if last else 0,
        taken=last[0] if last else 0,
        sessions=max(numbers.values()),
        last=last[-1] if last else None,
    )


def digest_of(digest: str, message: Message) -> str:
    """Return the hash of a conversation with one more message."""
    at = message.created_at and message.created_at.isoformat()
    parts = [message.id, message.role, message.speaker, message.reply_to, at, message.text]
    text = json.dumps([digest, *parts], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
