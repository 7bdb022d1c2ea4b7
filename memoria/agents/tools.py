"""`tools`: plain functions that agent frameworks take as they are.

In: a `GraphRetriever`. Out: async functions with annotations and docstrings, which are what a model
reads of them. They write only if asked to be made with ``write=True``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from memoria._support.wording import kind_of, told
from memoria.agents.agent_memory import AgentMemory
from memoria.agents.answer import Answer
from memoria.agents.kinds import ANSWER_TOKENS, Kind
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
    model could set. What a model can mend, or should know, such as an unknown id or a database that
    is away, comes back as a text that begins with ``Error:``; other errors of memoria are raised.

    Parameters
    ----------
    retriever
        Memory of one scope; it must stay open as long as the functions are used.
    write
        Whether the agent may remember and give feedback.
    budget_tokens
        Tokens of an answer, unless the model asks for another number; 100 to 20,000.
    deadline_s
        Time for a recall; seconds, > 0.

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
    return [*_reading(memory), *(_writing(memory) if write else [])]


def _reading(memory: AgentMemory) -> list[Tool]:
    async def memory_recall(
        query: str, tags: list[str] | None = None, max_tokens: int | None = None
    ) -> str:
        """Search long-term memory for information relevant to a question.

        Use it before any answer that may depend on earlier conversations, decisions or preferences.
        The result contains memories, each with a label such as [b3].

        Args:
            query: The question, in words.
            tags: Topics that steer the search.
            max_tokens: Size of the answer, 100 to 20000.
        """
        return await said(memory.recall(query, tags=tags or (), max_tokens=max_tokens))

    async def memory_explain(recall_id: str, memory_id: str) -> str:
        """Explain why a recall found a memory: the way to it, with the numbers of each hop.

        Args:
            recall_id: Id of the recall, from its first line.
            memory_id: Label or id of a memory that the recall found.
        """
        return await said(memory.explain(recall_id, memory_id))

    async def memory_open(ids: list[str], max_tokens: int | None = None) -> str:
        """Read memories in full, with their links to other memories.

        Args:
            ids: Labels or ids of memories, at most 50.
            max_tokens: Size of the answer, 100 to 20000.
        """
        return await said(memory.open(ids, max_tokens=max_tokens))

    return [memory_recall, memory_explain, memory_open]


def _writing(memory: AgentMemory) -> list[Tool]:
    async def memory_remember(
        text: str,
        kind: Kind = "Event",
        tags: list[str] | None = None,
        because_of: list[str] | None = None,
        about: list[str] | None = None,
        supersedes: list[str] | None = None,
        from_recall: str | None = None,
    ) -> str:
        """Store one fact, decision or preference for later conversations.

        Use it when something is said that will matter later. A text that is stored already is not
        stored twice. It is stored for good when this returns. The answer lists earlier memories
        that the text may replace, and how to say so.

        Args:
            text: One self-contained sentence, with names instead of pronouns.
            kind: Kind of the text.
            tags: Topics of the text.
            because_of: Labels or ids of memories that the text follows from.
            about: Labels or ids of memories that the text is about.
            supersedes: Labels or ids of memories that the text corrects; recalls leave them out.
            from_recall: Id of the recall that the text comes from, if any.
        """
        done = memory.remember(
            text,
            kind=kind,
            tags=tags or (),
            because_of=because_of or (),
            about=about or (),
            supersedes=supersedes or (),
            from_recall=from_recall,
        )
        return await said(done)

    async def memory_feedback(
        recall_id: str, used: list[str] | None = None, wrong: list[str] | None = None
    ) -> str:
        """Report which memories of a recall your answer used, and which proved wrong.

        Use it once after the answer, so that the next recall does better.

        Args:
            recall_id: Id of the recall, from its first line.
            used: Labels or ids of memories that the answer is based on.
            wrong: Labels or ids of memories that proved wrong.
        """
        return await said(memory.feedback(recall_id, used=used or (), wrong=wrong or ()))

    return [memory_remember, memory_feedback]


def for_model(error: MemoriaError) -> bool:
    """Tell whether a model can mend an error, or should go on without the memory for now."""
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
