"""Count what an import reads, what it leaves out, and what is wrong with it.

In: what a reader yields and says. Out: the same items, counted; text and JSON. Touches nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer

from memoria._support.progress import ProgressCallback
from memoria._support.wording import number_of
from memoria.cli.common import err, one_line
from memoria.errors import InvalidInputError
from memoria.types import Conversation, ConversationReport, Memory, Relation, WriteReport

MAX_PROBLEMS = 20
#: Written facts of a report, with the names that ``ingest`` has for them.
WRITTEN = (
    "memories",
    "memories_created",
    "embedded",
    "pending_vectors",
    "relations",
    "relations_created",
)


DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what would be written; needs no server.")
]


def embedded(done: WriteReport) -> str:
    """Say how many vectors were made, and how many have to wait for the embedder.

    >>> embedded(WriteReport(embedded=3)), embedded(WriteReport(pending_vectors=1))
    ('3 embedded', '0 embedded, 1 vector pending: memoria embed')
    """
    made = f"{done.embedded} embedded"
    if not done.pending_vectors:
        return made
    return f"{made}, {number_of(done.pending_vectors, 'vector')} pending: memoria embed"


class Problems:
    """What is wrong with that which an import reads; a callback of its reader.

    Parameters
    ----------
    skip_invalid
        Count what is wrong, instead of ending with the error about it.
    """

    def __init__(self, *, skip_invalid: bool) -> None:
        self.on_invalid = self._skip if skip_invalid else None
        self.problems: list[str] = []
        self.skipped = 0

    def show_problems(self) -> None:
        """Print the first problems to standard error."""
        for problem in self.problems:
            err.print(problem, style="yellow", markup=False)

    def _skip(self, error: InvalidInputError) -> None:
        self.skipped += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(str(error))


class Tally(Problems):
    """Counts of one import of conversations; callbacks of its reader."""

    def __init__(self, *, skip_invalid: bool) -> None:
        super().__init__(skip_invalid=skip_invalid)
        self._left_out: Counter[str] = Counter()
        self._conversations: set[tuple[str, str]] = set()
        self._messages = 0
        self._nouns = ("message", "messages")

    def on_left_out(self, reason: str) -> None:
        """Count a message that is left out."""
        self._left_out[reason] += 1

    def conversations(
        self, items: Iterable[Conversation], progress: ProgressCallback
    ) -> Iterator[Conversation]:
        """Yield the conversations of which the writer remembers a message."""
        for each in items:
            roles = Counter(message.role for message in each.messages)
            system = roles.pop("system", 0)  # instructions, which the writer leaves out
            self._left_out["system"] += system
            if roles:
                self._conversations.add((each.source, each.id))
                self._messages += roles.total()
                yield each
            progress("messages", self._messages, None)
        progress("messages", self._messages, self._messages)

    def graph(
        self, items: Iterable[Memory | Relation], progress: ProgressCallback
    ) -> Iterator[Memory | Relation]:
        """Yield memories and relations; what memories are made of is counted as messages are."""
        self._nouns = ("entity or observation", "entities and observations")
        for each in items:
            self._messages += isinstance(each, Memory)
            yield each
            progress("memories", self._messages, None)
        progress("memories", self._messages, self._messages)

    def facts(self, done: ConversationReport) -> dict[str, Any]:
        """Return the counts for ``--json``."""
        return {
            "conversations": len(self._conversations),
            "messages": self._messages,
            "left_out": dict(sorted((+self._left_out).items())),
            "skipped": self.skipped,
            "problems": self.problems,
            "known": done.known,
            "parts": done.parts,
            "sessions": done.sessions,
            "topics": done.topics,
            "forgotten": done.forgotten,
            "connectors": done.connectors,
            **{name: getattr(done.written, name) for name in WRITTEN},
            "certain": done.certain,
        }

    def in_words(self, done: ConversationReport, scope: str | None) -> str:
        """Return the counts of `facts` in a line; without a ``scope`` nothing was to be written."""
        read = number_of(self._messages, *self._nouns)
        if self._conversations:
            read = f"{number_of(len(self._conversations), 'conversation')}, {read}"
        parts = [read]
        if scope is not None:
            written = done.written
            parts = [
                f"{read} ({done.known} known)" if done.known else read,
                number_of(done.parts, "part"),
                f"{number_of(written.memories, 'memory', 'memories')} with connectors "
                f"({written.memories_created} new, {embedded(written)})",
                f"{number_of(written.relations, 'edge')} ({written.relations_created} new)",
            ]
            if done.forgotten:
                parts.append(f"{number_of(done.forgotten, 'memory', 'memories')} forgotten")
            if done.connectors:
                parts.append(f"{number_of(done.connectors, 'unused connector')} deleted")
        reasons = ", ".join(f"{count} {name}" for name, count in (+self._left_out).most_common())
        if reasons:
            parts.append(f"{self._left_out.total()} left out ({reasons})")
        if self.skipped:
            parts.append(f"{self.skipped} skipped")
        where = "nothing was written" if scope is None else f"scope {one_line(scope)}"
        return f"{', '.join(parts)}; {where}"
