"""LangChain: a retriever, and a middleware that gives an agent a memory.

In: questions, and the messages of an agent. Out: documents; a context in the prompt. The retriever
reads only; the middleware writes each turn, unless told not to. Needs the extra ``langchain``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, NotRequired

from memoria._support.checks import check_whole
from memoria.agents.kinds import ANSWER_TOKENS
from memoria.integrations._calls import AnyRetriever, Calls, missing
from memoria.integrations._fence import fenced
from memoria.integrations._found import MAX_K, find, id_of, metadata_of
from memoria.integrations._turns import excluding, unnamed
from memoria.recall.call import QueryTags
from memoria.remember.conversations import append_first
from memoria.retriever import GraphRetriever
from memoria.types import Message

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
    from langchain_core.retrievers import BaseRetriever
    from langgraph.runtime import Runtime
    from pydantic import ConfigDict, Field, PrivateAttr
except ImportError as exc:
    raise missing("langchain", exc) from exc

__all__ = ["MemoriaMiddleware", "MemoriaRetriever"]


class MemoriaRetriever(BaseRetriever):
    """Returns the best memories of a recall as documents, best first.

    ``k`` and ``query_tags`` may also be given to ``invoke`` and ``ainvoke``, for one call.

    Attributes
    ----------
    retriever
        A `GraphRetriever`, whose scope is read. One of `memoria.sync` serves ``invoke`` and
        ``ainvoke``, one of `memoria` serves ``ainvoke`` in its own event loop.
    k
        Number of documents; 1 to 1,000. There are fewer only if fewer memories were found.
    query_tags
        As in `GraphRetriever.recall`.
    also_read
        Further scopes that are read, instead of those that the retriever also reads; None for
        these.
    """

    model_config = ConfigDict(extra="forbid")  # else a mistyped name would be dropped

    retriever: AnyRetriever
    k: int = Field(default=10, ge=1, le=MAX_K)
    query_tags: QueryTags = ()
    also_read: Sequence[str] | None = None
    _calls: Calls = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Prepare the calls."""
        super().model_post_init(context)
        self._calls = Calls(self.retriever, self.also_read)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - the framework passes it
        k: int | None = None,
        query_tags: QueryTags | None = None,
    ) -> list[Document]:
        return self._calls.wait(lambda: self._documents(query, k, query_tags))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
        query_tags: QueryTags | None = None,
    ) -> list[Document]:
        return await self._calls.call(lambda: self._documents(query, k, query_tags))

    async def _documents(
        self, query: str, k: int | None, query_tags: QueryTags | None
    ) -> list[Document]:
        recall, found = await find(
            self._calls.memory,
            query,
            k=self.k if k is None else k,
            query_tags=self.query_tags if query_tags is None else query_tags,
        )
        return [
            Document(
                id=id_of(ranked),
                page_content=ranked.memory.said,
                metadata=metadata_of(recall, ranked),
            )
            for ranked in found
        ]


class MemoriaState(AgentState[Any]):
    """The state of an agent with a `MemoriaMiddleware`."""

    memoria_context: NotRequired[Annotated[str, PrivateStateAttr]]


class MemoriaMiddleware(AgentMiddleware[MemoriaState, Any, Any]):
    """Recalls once before the first call of the model, and remembers the turn after the last one.

    Recalled memories come before the user's words in the prompt, fenced as data; the messages of
    the agent stay as they are. Messages that are in the prompt already are not recalled. The turn
    is what the user said, and what the model said; what tools returned is not remembered. The
    thread of the agent's checkpointer is the conversation; without a checkpointer each turn is a
    conversation of its own.

    Parameters
    ----------
    retriever
        A `GraphRetriever`; as for `MemoriaRetriever`.
    budget_tokens
        Size of what is recalled; tokens, >= 1.
    remember
        Whether to remember the turn.
    scope_of
        Returns the scope of a run, such as ``lambda runtime: runtime.context.user_id``, where one
        agent serves many users. None: the scope of the retriever.
    also_read
        Further scopes that are read, instead of those that the retriever also reads; None for
        these.
    """

    state_schema = MemoriaState

    def __init__(
        self,
        retriever: AnyRetriever,
        *,
        budget_tokens: int = ANSWER_TOKENS,
        remember: bool = True,
        scope_of: Callable[[Runtime[Any]], str] | None = None,
        also_read: Sequence[str] | None = None,
    ) -> None:
        super().__init__()
        self.tools = []
        self._calls = Calls(retriever, also_read)
        self._budget_tokens = check_whole(budget_tokens, "budget_tokens", low=1, high=100_000_000)
        self._remember = remember
        self._scope_of = scope_of

    def before_agent(self, state: MemoriaState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Recall what bears on the user's words."""
        return self._calls.wait(lambda: self._recalled(state, runtime))

    async def abefore_agent(self, state: MemoriaState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Recall what bears on the user's words."""
        return await self._calls.call(lambda: self._recalled(state, runtime))

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Put what was recalled before the user's words."""
        return handler(_with_context(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Put what was recalled before the user's words."""
        return await handler(_with_context(request))

    def after_agent(self, state: MemoriaState, runtime: Runtime[Any]) -> None:
        """Remember the turn."""
        if self._remember:
            self._calls.wait(lambda: self._remembered(state, runtime))

    async def aafter_agent(self, state: MemoriaState, runtime: Runtime[Any]) -> None:
        """Remember the turn."""
        if self._remember:
            await self._calls.call(lambda: self._remembered(state, runtime))

    async def _recalled(self, state: MemoriaState, runtime: Runtime[Any]) -> dict[str, Any]:
        messages = state["messages"]
        turn = messages[_turn_start(messages) :]
        query = "\n".join(each.text for each in turn if isinstance(each, HumanMessage)).strip()
        if not query:
            return {"memoria_context": ""}
        recall = await self._memory(runtime).recall(
            query,
            budget_tokens=self._budget_tokens,
            where=excluding(_thread_of(runtime), _said(messages)),
        )
        return {"memoria_context": fenced(recall.context.text)}

    async def _remembered(self, state: MemoriaState, runtime: Runtime[Any]) -> None:
        messages = state["messages"]
        turn = _said(messages[_turn_start(messages) :])
        thread = _thread_of(runtime) or unnamed()
        await append_first(self._memory(runtime).conversations(), thread, turn)

    def _memory(self, runtime: Runtime[Any]) -> GraphRetriever:
        if self._scope_of is None:
            return self._calls.memory
        return self._calls.of_scope(self._scope_of(runtime))


def _turn_start(messages: Sequence[AnyMessage]) -> int:
    """Return the place of the first of the user's last words; the end, if the user said nothing."""
    start = len(messages)
    for place in range(len(messages) - 1, -1, -1):
        if isinstance(messages[place], HumanMessage):
            start = place
        elif start < len(messages):
            break
    return start


def _said(messages: Sequence[AnyMessage]) -> list[Message]:
    """Return what user and model said, as messages to be remembered."""
    now = datetime.now(UTC)
    return [
        Message(
            text=each.text,
            role="user" if isinstance(each, HumanMessage) else "assistant",
            id=each.id,
            created_at=now,
        )
        for each in messages
        if isinstance(each, HumanMessage | AIMessage) and each.text.strip()
    ]


def _with_context(request: ModelRequest[Any]) -> ModelRequest[Any]:
    context = str(request.state.get("memoria_context", ""))
    if not context:
        return request
    start = _turn_start(request.messages)
    messages = [*request.messages[:start], HumanMessage(context), *request.messages[start:]]
    return request.override(messages=messages)


def _thread_of(runtime: Runtime[Any]) -> str | None:
    return None if runtime.execution_info is None else runtime.execution_info.thread_id
