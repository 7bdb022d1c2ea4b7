"""LlamaIndex: a retriever, and a block for its ``Memory``.

In: questions, chat messages. Out: nodes with scores; a text for the prompt. The retriever reads
only; the block writes the messages that it is handed. Needs the extra ``llama-index``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from memoria._support.checks import check_whole
from memoria.agents.kinds import ANSWER_TOKENS
from memoria.integrations._calls import AnyRetriever, Calls, missing
from memoria.integrations._fence import fenced, shortened
from memoria.integrations._found import KEYS, MAX_K, SCOPE_KEY, find, id_of, metadata_of
from memoria.integrations._turns import unnamed
from memoria.recall.call import QueryTags
from memoria.recall.context import estimate_tokens
from memoria.types import Message
from memoria.types.conversation import Role

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as exc:
    raise missing("llama-index", exc) from exc

__all__ = ["MemoriaMemoryBlock", "MemoriaRetriever"]

_ROLES: dict[MessageRole, Role] = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
}


class MemoriaRetriever(BaseRetriever):
    """Returns the best memories of a recall as nodes, best first.

    Parameters
    ----------
    retriever
        A `GraphRetriever`, whose scope is read. One of `memoria.sync` serves ``retrieve`` and
        ``aretrieve``, one of `memoria` serves ``aretrieve`` in its own event loop.
    k
        Number of nodes; 1 to 1,000. There are fewer only if fewer memories were found.
    query_tags
        As in `GraphRetriever.recall`.
    also_read
        Further scopes that are read, instead of those that the retriever also reads; None for
        these.
    """

    def __init__(
        self,
        retriever: AnyRetriever,
        *,
        k: int = 10,
        query_tags: QueryTags = (),
        also_read: Sequence[str] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._calls = Calls(retriever, also_read)
        self._k = check_whole(k, "k", low=1, high=MAX_K)
        self._query_tags = query_tags

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._calls.wait(lambda: self._nodes(query_bundle.query_str))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await self._calls.call(lambda: self._nodes(query_bundle.query_str))

    async def _nodes(self, query: str) -> list[NodeWithScore]:
        memory = self._calls.memory
        recall, found = await find(memory, query, k=self._k, query_tags=self._query_tags)
        return [
            NodeWithScore(
                node=TextNode(
                    id_=id_of(ranked),
                    text=ranked.memory.said,
                    metadata=metadata_of(recall, ranked),
                    # By default a model would read all metadata with the text.
                    excluded_llm_metadata_keys=[*KEYS, SCOPE_KEY],
                    excluded_embed_metadata_keys=[*KEYS, SCOPE_KEY],
                ),
                score=ranked.score,
            )
            for ranked in found
        ]


class MemoriaMemoryBlock(BaseMemoryBlock[str]):
    """Remembers what leaves the short-term memory of an agent, and recalls what it asks about.

    LlamaIndex's ``Memory`` hands over the oldest messages when they exceed its token limit; until
    then they are in the prompt anyway. The messages left at the end of a session are remembered by
    ``await block.aput(await memory.aget_all(), session_id=memory.session_id)``. Only messages of
    the user and the model are remembered. The text that is recalled is fenced as data.

    Attributes
    ----------
    retriever
        A `GraphRetriever`, whose scope is read and written.
    budget_tokens
        Size of what is recalled; tokens, >= 1.
    also_read
        Further scopes that are read, instead of those that the retriever also reads; None for
        these.
    """

    model_config = ConfigDict(extra="forbid")  # else a mistyped name would be dropped

    name: str = "memoria"
    retriever: AnyRetriever = Field(exclude=True)
    budget_tokens: int = Field(default=ANSWER_TOKENS, ge=1)
    also_read: list[str] | None = None
    _calls: Calls = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Prepare the calls."""
        super().model_post_init(context)
        self._calls = Calls(self.retriever, self.also_read)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        asked = [each.content for each in messages or () if each.role is MessageRole.USER]
        query = (asked[-1] or "").strip() if asked else ""
        return await self._calls.call(lambda: self._recalled(query)) if query else ""

    async def _recalled(self, query: str) -> str:
        recall = await self._calls.memory.recall(query, budget_tokens=self.budget_tokens)
        return fenced(recall.context.text)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        session = next(filter(None, map(_session_of, messages)), None) or unnamed()
        now = datetime.now(UTC)
        said = [
            Message(text=each.content or "", role=_ROLES[each.role], created_at=now)
            for each in messages
            if each.role in _ROLES
        ]
        if said:
            await self._calls.call(lambda: self._calls.memory.conversations().append(session, said))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Take lines from the end of what was recalled, the least relevant ones; None: all."""
        count = self._calls.memory.count_tokens or estimate_tokens
        return shortened(content, tokens_to_truncate, count) or None if content else None


def _session_of(message: ChatMessage) -> str | None:
    session: str | None = message.additional_kwargs.get("session_id")
    return session
