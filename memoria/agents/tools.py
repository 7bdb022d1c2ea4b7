"""`tools`: plain functions that agent frameworks take as they are.

In: a `GraphRetriever`. Out: async functions with annotations and docstrings, which are what a model
reads of them. They write only if asked to be made with ``write=True``.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from memoria._support.wording import kind_of, told
from memoria.agents.agent_memory import AgentMemory
from memoria.agents.answer import Answer
from memoria.agents.calls import READING, WRITING, Call, memory_status
from memoria.agents.kinds import ANSWER_TOKENS
from memoria.errors import DeadlineError, DimensionError, InvalidInputError, MemoriaError
from memoria.retriever import GraphRetriever

Tool = Callable[..., Awaitable[str]]


def tools(
    retriever: GraphRetriever,
    *,
    write: bool = False,
    budget_tokens: int = ANSWER_TOKENS,
    deadline_s: float = 5.0,
) -> list[Tool]:
    """Make functions for an agent that recall, explain and open memories, and write if allowed.

    Pydantic-AI, the OpenAI Agents SDK, LangChain and Google ADK take them as they are, and read
    names, annotations and docstrings. The scope is that of the retriever, never a parameter that a
    model could set. Errors that a model can mend, or should know, such as an unknown id or a
    database that is away, come back as a text that begins with ``Error:``; other errors of memoria
    are raised.

    Parameters
    ----------
    retriever
        Memory of one scope; it must stay open as long as the functions are used.
    write
        Whether the agent may remember and give feedback.
    budget_tokens
        Tokens of an answer, unless the model asks for another number; 100 to 20,000.
    deadline_s
        Time for a recall, unless the model asks for another one; seconds, > 0.

    Returns
    -------
    list
        ``memory_recall``, ``memory_explain``, ``memory_open``; with ``write`` also
        ``memory_remember`` and ``memory_feedback``.

    Raises
    ------
    InvalidInputError
        ``retriever`` is something else, such as one of `memoria.sync`; or ``budget_tokens`` or
        ``deadline_s`` is out of its range.
    """
    if not isinstance(retriever, GraphRetriever):
        raise InvalidInputError(
            f"retriever must be a memoria.GraphRetriever, got {kind_of(retriever)}: the functions "
            "are async, so open it by memoria.connect or memoria.open",
            field="retriever",
        )
    memory = AgentMemory(
        retriever, budget_tokens=budget_tokens, deadline_s=deadline_s, read_only=not write
    )
    reading = [call for call in READING if call.ask is not memory_status]
    return [_tool(call, memory) for call in (*reading, *(WRITING if write else ()))]


def _tool(call: Call, memory: AgentMemory) -> Tool:
    """Make a function of the arguments of a call, which frameworks read as if it were written."""
    arguments = call.of_models

    async def tool(*given: Any, **named: Any) -> str:
        return await said(call.ask(memory, *given, **named))

    tool.__name__ = tool.__qualname__ = call.name
    tool.__doc__ = call.doc
    tool.__annotations__ = {each.name: each.annotation for each in arguments} | {"return": str}
    tool.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        arguments, return_annotation=str
    )
    return tool


def for_model(error: MemoriaError) -> bool:
    """Tell whether a model can mend an error, or should continue without the memory for now."""
    if isinstance(error, DimensionError):
        return False
    return error.retryable or isinstance(error, InvalidInputError | DeadlineError)


async def said(answer: Awaitable[Answer]) -> str:
    """Return the text of an answer, or of an error that a model can do something about."""
    try:
        return (await answer).text
    except MemoriaError as error:
        if not for_model(error):
            raise
        return f"Error: {told(error)}"
