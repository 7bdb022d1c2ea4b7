"""The turns of a conversation: what it is called, and which of its messages a prompt holds already.

In: the messages of a conversation. Out: a name; a filter. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from memoria.remember.config import ConversationConfig
from memoria.remember.ids import message_id, part_id
from memoria.remember.parts import parts_of
from memoria.types import MemoryFilter, Message
from memoria.types.filters import MAX_EXCLUDED

_MAX_CHARS = ConversationConfig().max_chars


def excluding(conversation: str | None, messages: Sequence[Message]) -> MemoryFilter | None:
    """Return a filter that leaves out the memories of these messages, the last 10,000 at most.

    Parameters
    ----------
    conversation
        Id under which `ConversationWriter.append` wrote them with its default settings; None: they
        were not written.
    """
    if conversation is None:
        return None
    ids = [
        part_id(message_id("", conversation, message.id), number)
        for message in messages
        if message.id is not None
        for number in range(1, len(list(parts_of(message.text, _MAX_CHARS))) + 1)
    ]
    return MemoryFilter(exclude_ids=ids[-MAX_EXCLUDED:])


def unnamed() -> str:
    """Return the id of a conversation for which the framework has none: no other one has it."""
    return f"run-{uuid4().hex}"
