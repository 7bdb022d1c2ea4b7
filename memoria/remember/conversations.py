"""Write conversations: messages become memories, and what joins them becomes edges.

In: conversations, or the next messages of one. Out: a `ConversationReport`. Writes, several
messages in one transaction, each message whole. Queries: those of `ConversationGraph`.

Two writers of one conversation: each reads how far it is written, plans, and writes if nobody else
has written meanwhile; else it plans again. Nothing is locked while texts are read or embedded.

While a transaction is written, the texts of the next one are embedded; never more than these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from uuid import uuid4

from memoria._support.prefetch import Prefetch
from memoria.embed import Embedder
from memoria.errors import InvalidInputError, UnavailableError
from memoria.graph.connectors import is_connector
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.ingest.batch_writer import AnyLinker
from memoria.ingest.joint import JointWriter
from memoria.remember.committing import ChangedError, ConversationGraph
from memoria.remember.config import ConversationConfig
from memoria.remember.cursors import (
    Cursor,
    Step,
    StoredConversation,
    clashes,
    groups,
    says,
)
from memoria.remember.ids import message_id, session_id
from memoria.remember.mentions import Extractor
from memoria.remember.options import MAX_ATTEMPTS, TextOptions
from memoria.remember.plan import Plan, Planner
from memoria.remember.rules import RuleExtractor
from memoria.remember.state import ConversationState
from memoria.store import StoreOrDriver, with_certainty, writable_store_of
from memoria.types import Conversation, ConversationReport, MemoryLinker, Message, WriteReport

DEFAULT_EXTRACTOR = RuleExtractor()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """What is known of messages before it is their turn.

    Attributes
    ----------
    cursors
        The conversations of the next group; none if these are the rest of a group.
    steps
        What will be written first of each, if nobody else writes meanwhile; none without an
        embedder, and of conversations that are written already.
    vectors
        Text -> its vector, of the memories that had none; None if the embedder failed.
    made
        What was done for that.
    """

    cursors: Sequence[Cursor] = ()
    steps: Sequence[tuple[Cursor, Step]] = ()
    vectors: Mapping[str, Sequence[float] | None] = field(default_factory=dict)
    made: WriteReport = field(default_factory=WriteReport)


async def append_first(
    writer: ConversationWriter,
    conversation_id: str,
    messages: Sequence[Message],
    *,
    source: str = "",
) -> ConversationReport:
    """Append messages of a program that may change some of them later: as it said them first.

    An agent must not fail because its framework has shortened or edited an older message. Such a
    message counts as known.
    """
    head = Conversation(id=conversation_id, messages=messages, source=source)
    return await writer._append(head, keep_first=True)


class ConversationOptions(TextOptions[AnyLinker], total=False):
    """The options of a `ConversationWriter` in addition to store, scope and embedder."""

    config: ConversationConfig | None


class ConversationWriter:
    """Writes conversations into one scope.

    A message becomes a memory, with edges to the message before it, to its session, to who said it
    and to what it mentions. No language model is asked.

    Parameters
    ----------
    store
        A `Store`, such as the store of a retriever, or an open driver of your own.
    embedder
        Makes the vectors of the messages; None makes no vectors.
    extractor
        Finds what a message mentions; None: nothing.
    linker
        A `Linker` of the same scope, which links what was written by its vectors. None links
        nothing.
    config
        Settings of what conversations become.
    clock
        Gives the time of what is made now, appended messages without a time included; aware.
    """

    def __init__(
        self,
        store: StoreOrDriver,
        *,
        scope: str,
        embedder: Embedder | None = None,
        extractor: Extractor | None = DEFAULT_EXTRACTOR,
        linker: MemoryLinker | None = None,
        config: ConversationConfig | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.config = config or ConversationConfig()
        self.extractor = extractor
        self._store = writable_store_of(store).patient()
        self._batches = JointWriter(
            self._store,
            scope=scope,
            embedder=embedder,
            kinds=(*DEFAULT_KINDS, *self.config.kinds.values()),
            linker=linker,
            clock=clock,
        )
        self.scope = self._batches.scope
        self._graph = ConversationGraph(self._batches, self._store, clock)

    @with_certainty
    async def write(self, conversations: Iterable[Conversation]) -> ConversationReport:
        """Write whole conversations; what is there already is left as it is.

        After an error or a kill, the transactions before it stay written; writing the same
        conversations again completes the rest, but for links of the last transaction, which are
        left to `Linker.link`. A conversation that has grown since continues where it ended. A
        message without an id is known by its place: another text at the same place replaces the
        one that is there, and a blank text forgets it. A message without a time becomes a memory
        without one. Of messages with the same id the first counts; ``written.problems`` of the
        report names those that say something else.

        Raises
        ------
        InvalidInputError
            A value is not a `Conversation`, or holds what can't be stored.
        """
        report = ConversationReport()
        await self._batches.ready()
        waiting = groups(conversations)
        async with Prefetch[_Prepared]() as ahead:
            ahead.start(self._prepare_group(waiting))
            while (prepared := await ahead.result()).cursors:
                report = report.plus(await self._write_group(prepared, waiting, ahead))
        return report

    @with_certainty
    async def append(
        self, conversation_id: str, messages: Sequence[Message], *, source: str = ""
    ) -> ConversationReport:
        """Write the next messages of a conversation, in one transaction; it may be new.

        The time does not depend on how much the scope holds. A message that is there already, with
        its id, role and text, is left out, so messages with ids may be sent again. A message
        without an id is always new. Messages without a time are said now.

        Parameters
        ----------
        source
            As in `Conversation`.

        Raises
        ------
        InvalidInputError
            A value is not a `Message`, or holds what can't be stored. Or the id of a message is
            that of another one in this conversation, with another text or role: nothing was
            written.
        UnavailableError
            Too many others wrote the same conversation at the same time: nothing was written. Or
            the server can't be reached: the messages may have been written or not. Those with ids
            may then be appended again.
        """
        head = Conversation(id=conversation_id, messages=messages, source=source)
        return await self._append(head)

    @with_certainty
    async def _append(self, head: Conversation, *, keep_first: bool = False) -> ConversationReport:
        """Append messages; with ``keep_first``, those that say something else now are known."""
        await self._batches.ready()
        token = uuid4().hex[:12]
        wanted = [
            message_id(head.source, head.id, name)
            for message in head.messages
            for name in (message.id, message.reply_to)
            if name is not None
        ]
        done = ConversationReport(conversations=1)
        for _ in range(MAX_ATTEMPTS):
            stored, known = await self._graph.read([head], wanted)
            state = stored[0].state or await self._graph.left_of(head)
            if token in state.tokens:  # it was written, and only the reply was lost
                return done
            changed = await self._changed(head, known)
            new = self._new_of(head, known)
            clashing = clashes(new, self.config.kinds, state)
            if (changed or clashing) and not keep_first:
                name = changed[0] if changed else next(iter(clashing.values()))
                raise _repeated(head.id, name)
            fresh = [message for place, message in enumerate(new) if place not in clashing]
            step, done = self._next_of(head, stored[0], state.with_token(token), known, fresh)
            if step is None:
                return done
            try:
                return done.plus(await self._graph.commit([step], {}, said_now=True))
            except ChangedError:
                continue
        raise UnavailableError(
            f"conversation {head.id!r} was written by others {MAX_ATTEMPTS} times in a "
            "row: append again later"
        )

    async def _changed(self, head: Conversation, known: Sequence[str]) -> list[str]:
        """Return the ids of messages that are stored with another text or role."""
        names, there = (head.source, head.id), set(known)
        again = [
            (message_id(*names, message.id), message)
            for message in head.messages
            if message.id is not None and message.role in self.config.kinds and message.text.strip()
        ]
        again = [(id_, message) for id_, message in again if id_ in there]
        if not again:
            return []
        stored = await self._graph.said(sorted({id_ for id_, _ in again}))
        return [
            str(message.id)
            for id_, message in again
            if id_ in stored and stored[id_] != says(message.role, message.text)
        ]

    def _new_of(self, head: Conversation, known: Sequence[str]) -> list[Message]:
        """Return the messages that are not stored."""
        there, names = set(known), (head.source, head.id)
        return [
            each
            for each in head.messages
            if each.id is None or message_id(*names, each.id) not in there
        ]

    def _next_of(
        self,
        head: Conversation,
        stored: StoredConversation,
        state: ConversationState,
        known: Sequence[str],
        fresh: Sequence[Message],
    ) -> tuple[Step | None, ConversationReport]:
        """Plan fresh messages to append; None if there are none."""
        names = (head.source, head.id)
        planner = Planner(head, state, known=set(known), config=self.config)
        planner.add(fresh)
        plan = planner.plan().with_topics(self.extractor)
        report = replace(_counts(plan), conversations=1, known=len(head.messages) - len(fresh))
        if not plan.messages:
            return None, report
        root = session_id(*names, 1)
        return Step(root=root, stored=stored, plan=plan, state=plan.state), report

    async def _write_group(
        self,
        prepared: _Prepared,
        waiting: Iterator[Sequence[Conversation]],
        ahead: Prefetch[_Prepared],
    ) -> ConversationReport:
        """Write conversations of which no two are the same, in as few transactions as fit.

        What comes after them is being prepared from the first moment: the planning of a step, too,
        takes time in which texts can be embedded. What others write meanwhile makes the vectors of
        one step useless, and no more. In the end the next group is being prepared.
        """
        cursors = list(prepared.cursors)
        problems = tuple(problem for cursor in cursors for problem in cursor.problems)
        made = prepared.made.plus(WriteReport(problems=problems))
        report = ConversationReport(conversations=len(cursors), written=made)
        next_group = False  # whether the next group is being prepared already
        while cursors:
            if not next_group:
                rest = self._following(prepared.steps)
                next_group = not rest
                ahead.start(self._prepare_group(waiting) if next_group else self._embed(rest))
            steps = await self._steps(cursors)
            rest = [] if next_group else self._following(steps)
            report = report.plus(await self._write_steps(cursors, steps, prepared.vectors))
            cursors = [cursor for cursor in cursors if not cursor.done]
            prepared = _Prepared() if next_group else await ahead.result()
            report = report.plus(ConversationReport(written=prepared.made))
            prepared = replace(prepared, steps=rest)
        if not next_group:
            ahead.start(self._prepare_group(waiting))
        return report

    async def _write_steps(
        self,
        cursors: Sequence[Cursor],
        steps: list[tuple[Cursor, Step]],
        vectors: Mapping[str, Sequence[float] | None],
    ) -> ConversationReport:
        """Write a step of each conversation in one transaction; plan again if others wrote."""
        report = ConversationReport()
        while steps:
            planned = [step.with_topics(self.extractor) for _, step in steps]
            try:
                report = report.plus(await self._graph.commit(planned, vectors, said_now=False))
            except ChangedError:
                steps = await self._steps(cursors)
                continue
            for (cursor, _), step in zip(steps, planned, strict=True):
                cursor.advance(step.plan)
                report = report.plus(_counts(step.plan))
            break
        for cursor in cursors:
            report = report.plus(cursor.take_counts())
        return report

    async def _steps(self, cursors: Sequence[Cursor]) -> list[tuple[Cursor, Step]]:
        """Read how far conversations are written, and plan the next step of those that have one."""
        stored, _ = await self._graph.read([cursor.conversation for cursor in cursors], [])
        found = ((each, each.step(there)) for each, there in zip(cursors, stored, strict=True))
        return [(cursor, step) for cursor, step in found if step is not None]

    async def _prepare_group(self, waiting: Iterator[Sequence[Conversation]]) -> _Prepared:
        """Take the next group, and embed what will be written of it first."""
        cursors = [Cursor(each, self.config) for each in next(waiting, ())]
        if self._batches.embedder is None or not cursors:
            return _Prepared(cursors=cursors)
        return replace(await self._embed(await self._steps(cursors)), cursors=cursors)

    def _following(self, steps: Sequence[tuple[Cursor, Step]]) -> list[tuple[Cursor, Step]]:
        """Return what will be written after these steps, if nobody else writes meanwhile."""
        found = ((cursor, cursor.step_after(step)) for cursor, step in steps)
        return [(cursor, step) for cursor, step in found if step is not None]

    async def _embed(self, steps: Sequence[tuple[Cursor, Step]]) -> _Prepared:
        memories = [m for _, step in steps for m in step.plan.memories if not is_connector(m)]
        vectors, made = await self._batches.make_vectors(memories)
        return _Prepared(steps=steps, vectors=vectors, made=made)


def _repeated(conversation_id: str, name: str) -> InvalidInputError:
    return InvalidInputError(
        f"conversation {conversation_id!r:.80} has a message with the id {name!r:.80} already, "
        "with another text or role: give the new message another id, or none; "
        "GraphWriter.write changes the text of a memory; nothing was written",
        field="id",
    )


def _counts(plan: Plan) -> ConversationReport:
    return ConversationReport(
        messages=plan.messages,
        skipped=plan.skipped,
        parts=plan.parts,
        sessions=plan.sessions,
        topics=plan.topics,
    )
