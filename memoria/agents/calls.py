"""The calls of an agent: one table, of which every surface makes its own form.

In: an `AgentMemory`, and the arguments of a model or a program. Out: `Answer`s; descriptions of a
call: name, arguments with types and descriptions. Reads; the calls that write are marked so.

A docstring is what a model reads of a call. Its section ``Args`` describes the arguments; where
each has a place of its own for that, such as a schema, the section is left out.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from memoria._support.checks import check_whole
from memoria.agents.kinds import Kind
from memoria.errors import InvalidInputError
from memoria.types import MemoryFilter

if TYPE_CHECKING:  # what a host of MCP waits for
    from memoria.agents.agent_memory import AgentMemory
    from memoria.agents.answer import Answer

Order = Literal["relevance", "time"]
Does = Literal["reads", "writes", "deletes"]
#: Range of a recall's deadline; milliseconds.
MIN_DEADLINE_MS, MAX_DEADLINE_MS = 50, 60_000
#: The end of a message that refuses an argument as a time.
NO_TIME = "must be a time in ISO 8601, such as 2026-05-02T10:40:00+02:00"
_ARGUMENT = re.compile(r"^ +(\w+): (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What an agent can call.

    Attributes
    ----------
    ask
        Does it: a function of an `AgentMemory` and the arguments.
    does
        Whether it only reads, writes as well, or deletes.
    of_programs
        Arguments that only programs give. Models are not shown them: every turn would pay for them.
    """

    ask: Callable[..., Awaitable[Answer]]
    does: Does = "reads"
    of_programs: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Name of the call, as a model has it."""
        return self.ask.__name__

    @property
    def doc(self) -> str:
        """Description for models, with the section on their arguments."""
        lines = [f"    {each.name}: {self.described[each.name]}" for each in self.of_models]
        return "\n".join([self.head, *(["\nArgs:", *lines] if lines else [])])

    @property
    def head(self) -> str:
        """Description without the arguments."""
        return self._written[0]

    @property
    def described(self) -> Mapping[str, str]:
        """Argument -> its description."""
        return dict(_ARGUMENT.findall(self._written[1]))

    @property
    def _written(self) -> tuple[str, str]:
        head, _, arguments = (inspect.getdoc(self.ask) or "").partition("\n\nArgs:\n")
        return head, arguments

    @property
    def of_models(self) -> tuple[inspect.Parameter, ...]:
        """Arguments that a model gives."""
        return tuple(each for each in self.arguments if each.name not in self.of_programs)

    @property
    def arguments(self) -> tuple[inspect.Parameter, ...]:
        """What a caller gives, with types: all but the memory."""
        inside = {"AgentMemory": object, "Answer": object}
        _, *given = inspect.signature(self.ask, eval_str=True, locals=inside).parameters.values()
        return tuple(given)


async def memory_recall(
    memory: AgentMemory,
    /,
    query: str,
    tags: list[str] | None = None,
    max_tokens: int | None = None,
    deadline_ms: int | None = None,
    order: Order = "relevance",
    where: MemoryFilter | None = None,
    as_of: datetime | None = None,
    time_zone: str | None = None,
) -> Answer:
    """Search long-term memory for information relevant to a question.

    Call it before answers that may depend on earlier conversations, decisions or preferences.
    Returns memories, each with a label such as [b3], and the id of the recall.

    Args:
        query: The question, in words.
        tags: Topics that steer the search.
        max_tokens: Size of the answer, 100 to 20000 tokens.
        deadline_ms: Time for the answer, 50 to 60000 milliseconds.
        order: Which memories come first, the most relevant or the oldest.
        where: Which memories may be found; null for all.
        as_of: Search the memories that were valid at this time; null for now.
        time_zone: In which days begin, such as Europe/Berlin; null for that of the server.
    """
    if deadline_ms is not None:
        check_whole(deadline_ms, "deadline_ms", low=MIN_DEADLINE_MS, high=MAX_DEADLINE_MS)
    return await memory.recall(
        query,
        tags=() if tags is None else tags,
        max_tokens=max_tokens,
        deadline_s=None if deadline_ms is None else deadline_ms / 1_000,
        order=order,
        where=where,
        as_of=as_of,
        time_zone=time_zone,
    )


async def memory_explain(memory: AgentMemory, /, recall_id: str, memory_id: str) -> Answer:
    """Explain why a recall found a memory: the way to it, with the numbers of each hop.

    Args:
        recall_id: Id of the recall, from its first line.
        memory_id: Label or id of a memory that the recall found.
    """
    return await memory.explain(recall_id, memory_id)


async def memory_open(
    memory: AgentMemory, /, ids: list[str], max_tokens: int | None = None
) -> Answer:
    """Read full memories by label or id (at most 50), with their links to other memories.

    Args:
        ids: Labels or ids of memories, at most 50.
        max_tokens: Size of the answer, 100 to 20000 tokens.
    """
    return await memory.open(ids, max_tokens=max_tokens)


async def memory_status(memory: AgentMemory, /) -> Answer:
    """Show the scope, the number of memories in it, and the state of the indexes."""
    return await memory.status()


async def memory_remember(
    memory: AgentMemory,
    /,
    text: str,
    kind: Kind = "Event",
    tags: list[str] | None = None,
    because_of: list[str] | None = None,
    about: list[str] | None = None,
    supersedes: list[str] | None = None,
    from_recall: str | None = None,
    created_at: str | None = None,
    valid_until: str | None = None,
) -> Answer:
    """Store one fact, decision or preference, in one self-contained sentence.

    Call it when something is said that will matter later. No text is stored twice.

    Args:
        text: One self-contained sentence, with names instead of pronouns.
        kind: Kind of the text.
        tags: Its topics.
        because_of: Labels or ids of memories that it follows from.
        about: Labels or ids of memories that it is about.
        supersedes: Labels or ids of memories that it replaces; recalls omit them.
        from_recall: Id of the recall that led to it.
        created_at: When it was said, if not now (ISO 8601).
        valid_until: When it ceases to be valid (ISO 8601).
    """
    return await memory.remember(
        text,
        kind=kind,
        tags=() if tags is None else tags,
        because_of=() if because_of is None else because_of,
        about=() if about is None else about,
        supersedes=() if supersedes is None else supersedes,
        from_recall=from_recall,
        created_at=_time(created_at, "created_at"),
        valid_until=_time(valid_until, "valid_until"),
    )


def _time(given: datetime | str | None, field: str) -> datetime | None:
    """Read a time. From models it comes as text: not every framework converts arguments."""
    if not isinstance(given, str):
        return given
    try:
        return datetime.fromisoformat(given) if given else None
    except ValueError as exc:
        raise InvalidInputError(f"{field} {NO_TIME}", field=field) from exc


async def memory_feedback(
    memory: AgentMemory,
    /,
    recall_id: str,
    used: list[str] | None = None,
    wrong: list[str] | None = None,
) -> Answer:
    """Report which memories of a recall (labels) your answer used, and which proved wrong.

    Call it once after the answer, so that the next recall does better.

    Args:
        recall_id: Id of the recall, from its first line.
        used: Labels or ids of memories that the answer is based on.
        wrong: Labels or ids of memories that proved wrong.
    """
    return await memory.feedback(
        recall_id, used=() if used is None else used, wrong=() if wrong is None else wrong
    )


async def memory_forget(memory: AgentMemory, /, ids: list[str]) -> Answer:
    """Permanently delete memories by label or id; only when the user asks for it.

    To correct a memory, call memory_remember with supersedes.

    Args:
        ids: Labels or ids of memories, at most 50.
    """
    return await memory.forget(ids)


#: Calls that only read, that also write, and that delete.
READING = (
    Call(ask=memory_recall, of_programs=frozenset({"where", "as_of", "time_zone"})),
    *(Call(ask=ask) for ask in (memory_explain, memory_open, memory_status)),
)
WRITING = (
    Call(ask=memory_remember, does="writes", of_programs=frozenset({"valid_until"})),
    Call(ask=memory_feedback, does="writes"),
)
FORGETTING = Call(ask=memory_forget, does="deletes")
