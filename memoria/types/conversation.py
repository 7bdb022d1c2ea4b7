"""Conversations to be remembered: messages, in the order in which they were said.

In: values from a caller or an importer, checked once when they are made. Out: frozen data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from memoria._support import checks
from memoria._support.wording import value_of
from memoria.errors import InvalidInputError
from memoria.types.history import aware_time

Role = Literal["user", "assistant", "tool", "system", "other"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation.

    Attributes
    ----------
    text
        What was said; up to 1 MB.
    role
        Who said it, as chat models name it.
    id
        Identifier within the conversation, and the end of the memory's id,
        ``source:conversation:id``; None: the place of the message in the conversation.
    speaker
        Name of who said it; None: the role.
    created_at
        When it was said; an aware datetime, or a naive one, which counts as UTC. None: now where it
        is appended, and unknown where a whole conversation is written.
    reply_to
        ``id`` of the message that it answers; None: the message before.
    metadata
        Anything else to be kept with the memory.

    Raises
    ------
    InvalidInputError
        A field has the wrong type or is out of its range; the error names the field.
    """

    text: str
    role: Role = "user"
    id: str | None = None
    speaker: str | None = None
    created_at: datetime | None = None
    reply_to: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", checks.mended_text(self.text, "text"))
        if not isinstance(self.role, str) or self.role not in ROLES:
            raise InvalidInputError(
                f"role must be one of {', '.join(ROLES)}; got {value_of(self.role)}", field="role"
            )
        for name in ("id", "speaker", "reply_to"):
            if getattr(self, name) is not None:
                checks.check_id(getattr(self, name), name)
        if self.created_at is not None:
            object.__setattr__(self, "created_at", aware_time(self.created_at, "created_at"))
        object.__setattr__(self, "metadata", checks.check_json_map(self.metadata, "metadata"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation: messages in the order in which they were said.

    Attributes
    ----------
    id
        Identifier within its source.
    messages
        The messages.
    title
        A title, or None.
    source
        Where it comes from, such as ``slack``: the first part of every id that it gets. Empty for
        the conversations of your own agent.
    metadata
        Anything else to be kept with the conversation.

    Raises
    ------
    InvalidInputError
        A field has the wrong type or is out of its range; the error names the field.
    """

    id: str
    messages: Sequence[Message]
    title: str | None = None
    source: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checks.check_id(self.id)
        if self.title is not None:
            object.__setattr__(self, "title", checks.mended_text(self.title, "title"))
        checks.check_string(self.source, "source", max_bytes=checks.MAX_ID_BYTES)
        messages = checks.check_each(self.messages, Message, "messages")
        object.__setattr__(self, "messages", messages)
        object.__setattr__(self, "metadata", checks.check_json_map(self.metadata, "metadata"))
