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
from memoria.cli.common import one_line, warn
from memoria.errors import InvalidInputError
from memoria.graph.connectors import is_connector
from memoria.remember import ConversationConfig, DocumentConfig
from memoria.remember.cursors import Cursor, StoredConversation, clash_problems, clashes, names_of
from memoria.remember.documents.cutting import cut
from memoria.remember.state import ConversationState
from memoria.types import Conversation, Document, ImportReport, Item, Memory, WriteReport

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


def first_write(done: WriteReport) -> str:
    """Return the beginning of a report: whether the write has set the database up."""
    return (
        "the database was not set up, so its indexes were created; " if done.schema_created else ""
    )


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
            warn(problem)

    def _skip(self, error: InvalidInputError) -> None:
        self.skipped += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(str(error))


class Tally(Problems):
    """Counts of one import of conversations; callbacks of its reader.

    Parameters
    ----------
    rehearsed
        Nothing is written: also count what a write into an empty scope would report.
    """

    def __init__(self, *, skip_invalid: bool, rehearsed: bool) -> None:
        super().__init__(skip_invalid=skip_invalid)
        self._rehearsed = rehearsed
        self._left_out: Counter[str] = Counter()
        # Source and id -> how far it would be written, since it may come again.
        self._conversations: dict[tuple[str, str], ConversationState | None] = {}
        self._messages = self._documents = self._memories = 0
        self._plain = 0  # memories that are not connectors
        # Parts of messages and documents, sessions, and messages that would be there already.
        self._parts = self._sessions = self._known = 0

    def on_left_out(self, reason: str) -> None:
        """Count a message that is left out."""
        self._left_out[reason] += 1

    def counted(self, items: Iterable[Item], progress: ProgressCallback) -> Iterator[Item]:
        """Yield the items of which the writer remembers something."""
        for each in items:
            if isinstance(each, Conversation):
                if self._count_messages(each):
                    if self._rehearsed:
                        self._rehearse(each)
                    yield each
                progress("messages", self._messages, None)
                continue
            if isinstance(each, Document):
                self._documents += 1
                if self._rehearsed:
                    self._parts += len(cut(each, DocumentConfig().max_chars))
            elif isinstance(each, Memory):
                self._memories += 1
                self._plain += not is_connector(each)
            yield each
        progress("messages", self._messages, self._messages)

    def _count_messages(self, conversation: Conversation) -> bool:
        """Count what was read of a conversation; tell whether the writer is given any of it."""
        kinds = ConversationConfig().kinds
        names = names_of(conversation.messages)
        said = [
            (name, each.text)
            for name, each in zip(names, conversation.messages, strict=True)
            if each.role in kinds
        ]
        clashing = clashes(conversation.messages, kinds)
        room = MAX_PROBLEMS - len(self.problems)
        self.problems += clash_problems(conversation, clashing.values())[:room]
        ids = [id_ for id_, text in said if text.strip()]
        self._messages += len(set(ids))
        self._left_out += Counter(
            {
                "system": len(conversation.messages) - len(said),  # instructions
                "empty": len(said) - len(ids),
                "repeated": len(ids) - len(set(ids)) - len(clashing),
                "id of another message": len(clashing),
            }
        )
        if said:
            self._conversations.setdefault((conversation.source, conversation.id), None)
        return bool(said)

    def _rehearse(self, conversation: Conversation) -> None:
        """Count what a write of a conversation would report, after those before it."""
        name = (conversation.source, conversation.id)
        cursor, state = Cursor(conversation, ConversationConfig()), self._conversations[name]
        while step := cursor.step(StoredConversation(metadata=None, state=state)):
            self._parts += step.plan.parts
            self._sessions += step.plan.sessions
            state = step.state
            cursor.advance(step.plan)
        self._known += cursor.known
        self._conversations[name] = state

    def facts(self, done: ImportReport) -> dict[str, Any]:
        """Return the counts for ``--json``."""
        read = {
            "conversations": len(self._conversations),
            "messages": self._messages,
            "documents": self._documents,
            "memories_read": self._memories,
            "left_out": dict(sorted((+self._left_out).items())),
            "skipped": self.skipped,
            "problems": self.problems,
        }
        if self._rehearsed:  # the rest is known only when it is written
            parts = self._parts + self._plain
            return {**read, "known": self._known, "parts": parts, "sessions": self._sessions}
        talk, documents, written = done.conversations, done.documents, done.written
        return {
            **read,
            "known": talk.known,
            "parts": talk.parts + documents.parts + self._plain,
            "sessions": talk.sessions,
            "topics": talk.topics + documents.topics,
            "forgotten": talk.forgotten + documents.forgotten,
            "connectors": talk.connectors + documents.connectors,
            **{name: getattr(written, name) for name in WRITTEN},
            "certain": done.certain,
        }

    def in_words(self, done: ImportReport, scope: str | None) -> str:
        """Return the counts of `facts` in a line; without a ``scope`` nothing was to be written."""
        facts, written = self.facts(done), done.written
        counts = (
            (len(self._conversations), "conversation", "conversations"),
            (self._messages, "message", "messages"),
            (self._documents, "document", "documents"),
            (self._memories, "memory or entity", "memories and entities"),
        )
        known = f" ({facts['known']} known)" if facts["known"] else ""
        parts = [
            number_of(number, *nouns) + (known if nouns[0] == "message" else "")
            for number, *nouns in counts
            if number
        ] or ["nothing to remember"]
        parts.append(number_of(facts["parts"], "part"))
        if scope is not None:
            parts += [
                f"{number_of(written.memories, 'memory', 'memories')} with connectors "
                f"({written.memories_created} new, {embedded(written)})",
                f"{number_of(written.relations, 'edge')} ({written.relations_created} new)",
            ]
            if facts["forgotten"]:
                parts.append(f"{number_of(facts['forgotten'], 'memory', 'memories')} forgotten")
            if facts["connectors"]:
                parts.append(f"{number_of(facts['connectors'], 'unused connector')} deleted")
        reasons = ", ".join(f"{count} {name}" for name, count in (+self._left_out).most_common())
        if reasons:
            parts.append(f"{self._left_out.total()} left out ({reasons})")
        if self.skipped:
            parts.append(f"{self.skipped} skipped")
        where = "nothing was written" if scope is None else f"scope {one_line(scope)}"
        return f"{', '.join(parts)}; {where}"
