"""Google ADK: a memory service for its ``Runner``.

In: sessions, events, questions. Out: memory entries. Writes what the framework hands over, and
forgets what it deletes. Needs the extra ``google-adk``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from memoria._support.checks import check_whole
from memoria.errors import InvalidInputError
from memoria.graph.vocabulary import REQUEST
from memoria.integrations._calls import AnyRetriever, Calls, missing
from memoria.integrations._fence import inert
from memoria.integrations._found import MAX_K, find, id_of, metadata_of
from memoria.integrations._scopes import joined
from memoria.integrations._turns import unnamed
from memoria.remember.conversations import append_first
from memoria.retriever import GraphRetriever
from memoria.types import Conversation, Message, RankedMemory, Recall

try:
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai import types
except ImportError as exc:
    raise missing("google-adk", exc) from exc

__all__ = ["MemoriaMemoryService", "scope_of_user"]

_AUTHOR = "author"
#: Between these marks the framework's tool that preloads memories puts their texts into the prompt.
_PRELOADED = "PAST_CONVERSATIONS"


def scope_of_user(app_name: str, user_id: str) -> str:
    """Return a scope that no other user and no other app has, such as ``shop/ann``."""
    return joined([app_name, user_id])


class MemoriaMemoryService(BaseMemoryService):
    """Keeps the sessions of an app's users, each user's in a scope of its own.

    Only what user and agents said is remembered: neither calls of tools and their results, nor
    thoughts. A session may be added as often as it grows; what was forgotten since stays forgotten
    as long as something of its session is left.

    Parameters
    ----------
    retriever
        A `GraphRetriever`; its own scope is not used.
    scope_of
        Returns the scope of an app and a user, as the framework names them. Users for whom it
        returns the same scope share their memories.
    k
        Number of memories that a search returns; 1 to 1,000.
    also_read
        Further scopes that are read, instead of those that the retriever also reads; None for
        these.
    """

    def __init__(
        self,
        retriever: AnyRetriever,
        *,
        scope_of: Callable[[str, str], str] = scope_of_user,
        k: int = 10,
        also_read: Sequence[str] | None = None,
    ) -> None:
        self._calls = Calls(retriever, also_read)
        self._scope_of = scope_of
        self._k = check_whole(k, "k", low=1, high=MAX_K)

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember what a session has gained since it was last added."""
        memory = self._memory(session.app_name, session.user_id)
        conversation = Conversation(id=session.id, messages=_said(session.events))
        if conversation.messages:
            await self._calls.call(lambda: memory.conversations().write([conversation]))

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002 - has no keys here
    ) -> None:
        """Remember the next events of a session; those that are there already are left out."""
        memory, said = self._memory(app_name, user_id), _said(events)
        session = session_id or unnamed()
        if said:
            await self._calls.call(lambda: append_first(memory.conversations(), session, said))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002 - has no keys here
    ) -> None:
        """Remember texts, each once however often it is given; see `GraphWriter.remember`.

        Raises
        ------
        InvalidInputError
            An entry has no text, or a timestamp that is not in the format of ISO 8601.
        """
        memory = self._memory(app_name, user_id)

        async def remember() -> None:
            writer = memory.writer()
            for entry, made in dated:
                await writer.remember(_text_of(entry.content), id=entry.id, created_at=made)

        dated = [(entry, _time_of(entry.timestamp)) for entry in memories]
        await self._calls.call(remember)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return the best memories of a recall, best first."""
        memory = self._memory(app_name, user_id)
        if not query.strip():
            return SearchMemoryResponse()
        recall, found = await self._calls.call(lambda: find(memory, query, k=self._k))
        own = memory.scope
        return SearchMemoryResponse(memories=[_entry(recall, ranked, own) for ranked in found])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Forget a memory of the user by the id of its entry; other ids are passed over."""
        memory = self._memory(app_name, user_id)
        if memory_id:
            await self._calls.call(lambda: memory.writer().forget([memory_id]))

    def _memory(self, app_name: str, user_id: str) -> GraphRetriever:
        return self._calls.of_scope(self._scope_of(app_name, user_id))


def _said(events: Sequence[Event]) -> list[Message]:
    """Return what was said in these events; parts of an answer that is streamed are left out."""
    return [
        Message(
            text=text,
            role="user" if event.author == "user" else "assistant",
            id=event.id,
            created_at=datetime.fromtimestamp(event.timestamp, UTC),
            metadata={_AUTHOR: event.author},
        )
        for event in events
        if not event.partial and (text := _text_of(event.content)).strip()
    ]


def _text_of(content: types.Content | None) -> str:
    parts = () if content is None else content.parts or ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _time_of(timestamp: str | None) -> datetime | None:
    if timestamp is None:
        return None
    try:
        return datetime.fromisoformat(timestamp)
    except ValueError as exc:
        raise InvalidInputError(
            f"timestamp must be in the format of ISO 8601, got {timestamp!r:.80}",
            field="timestamp",
        ) from exc


def _entry(recall: Recall, ranked: RankedMemory, own: str) -> MemoryEntry:
    memory = ranked.memory
    by_user = memory.kind == REQUEST
    text = inert(memory.text, _PRELOADED)
    author = memory.metadata.get(_AUTHOR)
    return MemoryEntry(
        content=types.Content(
            role="user" if by_user else "model", parts=[types.Part.from_text(text=text)]
        ),
        id=id_of(ranked, own),
        author=author if isinstance(author, str) else None,
        timestamp=None if memory.created_at is None else memory.created_at.isoformat(),
        custom_metadata=metadata_of(recall, ranked),
    )
