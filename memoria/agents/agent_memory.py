"""`AgentMemory`: what an agent calls, over one retriever; its calls that write are here.

In: the words of a model, checked. Out: `Answer`s. Writes, and what it writes is committed when a
call returns.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypedDict, Unpack, cast

from memoria._support.checks import check_ids
from memoria._support.wording import number_of
from memoria.agents.agent_reader import AgentReader, listed_ids
from memoria.agents.answer import Answer, name_of, one_line
from memoria.agents.kinds import Kind
from memoria.agents.using import learn_used
from memoria.agents.words import remembered
from memoria.errors import InvalidInputError, MemoriaError
from memoria.learn.trails import found_in
from memoria.types import MemoryNode, Message, Trace

log = logging.getLogger(__name__)


class RememberArguments(TypedDict, total=False):
    """Arguments of `AgentMemory.remember`; see `GraphWriter.remember`."""

    kind: Kind
    tags: Iterable[str]
    because_of: Iterable[str]
    about: Iterable[str]
    supersedes: Iterable[str]
    created_at: datetime | None
    valid_until: datetime | None


class AgentMemory(AgentReader):
    """Memory as an agent uses it: what `AgentReader` reads, and what writes.

    With a retriever of ``learn="used"``, memories of a recall that are opened, or named as the
    reason of a new memory, count as used; see `note_used`.
    """

    async def open(self, ids: Iterable[str], *, max_tokens: int | None = None) -> Answer:
        """Read memories as they are; see `AgentReader.open`.

        Of a label that is also the id of another memory, the memory with the label counts as used.
        """
        names = listed_ids(ids)
        answer = await super().open(names, max_tokens=max_tokens)
        await self.note_used(names)
        return answer

    async def open_address(
        self, address: str, *, max_tokens: int | None = None
    ) -> tuple[Answer, tuple[str, MemoryNode] | None]:
        """Read one memory; see `AgentReader.open_address`."""
        answer, shown = await super().open_address(address, max_tokens=max_tokens)
        if shown is not None and shown[0] == self.retriever.scope:
            await self.note_used([shown[1].id], are_ids=True)
        return answer, shown

    async def note_used(self, names: Iterable[str], *, are_ids: bool = False) -> int:
        """Learn that memories of the recalls that are kept were used, if the retriever may.

        An error of the database is logged, and nothing is learned: it must not cost the answer.

        Parameters
        ----------
        names
            Labels or ids; those that no recall showed are passed over.
        are_ids
            Whether all names are ids of the own scope, also those that read like a label.

        Returns
        -------
        int
            How many memories were not known as used before; 0 if nothing may be learned.
        """
        if self.retriever.learn is None or self.read_only:
            return 0
        new = 0
        try:
            own = self.retriever.scope
            uses = self.recalls.new_uses(self._reads, names, own=own, are_ids=are_ids)
            for recall_id, used in uses.items():
                trace = self.kept(recall_id).trace
                new += await learn_used(self.retriever.learner(), trace, used)
                self.recalls.mark_used(self._reads, recall_id, used)
        except MemoriaError as exc:
            log.warning("can't learn what was used (%s)", type(exc).__name__)
        return new

    async def remember(
        self, text: str, *, from_recall: str | None = None, **arguments: Unpack[RememberArguments]
    ) -> Answer:
        """Remember a text once; see `GraphWriter.remember`, which explains the other arguments.

        Name memories by labels from earlier answers, or by ids. The answer lists earlier memories
        that a new text may replace, and says how to replace them.

        Parameters
        ----------
        from_recall
            Id of the recall that the text comes from: what that recall found is not written again.

        Raises
        ------
        InvalidInputError
            A memory that is named is missing, or a name may mean two; an argument is not valid, or
            nothing may be written. Nothing was written.
        """
        self._check_writes()
        after: Trace | None = None
        if from_recall is not None:
            after = self.kept(from_recall).trace.of(self.retriever.scope)
        given = await self._with_ids(arguments, from_recall)
        done = await self.retriever.writer().remember(text, after=after, **given)
        await self.note_used(given.get("because_of", ()), are_ids=True)
        size = await self._size()
        data = done.facts()
        data["similar"] = [{"id": each.id, "score": each.score} for each in done.similar]
        text = remembered(done, self._now(size))
        return Answer(text=text, data=self._about(size) | data)

    async def append(
        self, conversation_id: str, messages: Sequence[Message], *, source: str = ""
    ) -> Answer:
        """Append messages to a conversation, which may be new; see `ConversationWriter.append`.

        Raises
        ------
        InvalidInputError
            An argument is not valid, or nothing may be written. Nothing was written.
        """
        self._check_writes()
        writer = self.retriever.conversations()
        done = await writer.append(conversation_id, messages, source=source)
        size = await self._size()
        said = (
            f"Appended {number_of(done.messages, 'message')}; {done.known} were there before, "
            f"{done.skipped} left out."
        )
        data = {
            "conversation_id": conversation_id,
            "messages": done.messages,
            "known": done.known,
            "skipped": done.skipped,
            "parts": done.parts,
            "certain": done.certain,
        }
        return Answer(text=f"{said} {self._now(size)}", data=self._about(size) | data)

    async def feedback(
        self, recall_id: str, *, used: Iterable[str] = (), wrong: Iterable[str] = ()
    ) -> Answer:
        """Say which memories of a recall an answer rests on, and which proved wrong.

        The edges that led to used memories gain weight, and for similar questions used memories
        rank higher, wrong ones lower. The same call twice counts once. Name memories by their
        labels in that recall, or by ids.

        Raises
        ------
        InvalidInputError
            The recall is not among those kept, it did not find one of the ids, an id is both used
            and wrong, or there is none. Nothing was written.
        """
        self._check_writes()
        own = self.retriever.scope
        trace = self.kept(recall_id).trace.of(own)
        if trace is None:
            raise InvalidInputError(
                f"the recall found nothing in scope {name_of(own)}: only what it found there can "
                "be used or wrong",
                field="recall_id",
            )
        good = self._named(check_ids(used, "used"), recall_id)
        bad = self._named(check_ids(wrong, "wrong"), recall_id)
        _check_feedback(good, bad, trace)
        learner = self.retriever.learner()
        edges = (await learner.reinforce(trace, good)).edges if good else 0
        if bad:
            await learner.feedback(trace, overridden=bad)
        size = await self._size()
        said = (
            f"Noted: {len(good)} used, {len(bad)} wrong; {number_of(edges, 'edge')} strengthened."
        )
        data = {"recall_id": trace.id, "used": list(good), "wrong": list(bad), "edges": edges}
        return Answer(text=f"{said} {self._now(size)}", data=self._about(size) | data)

    async def forget(self, ids: Iterable[str]) -> Answer:
        """Delete memories with all their edges, and say which there were; it can't be undone.

        Name memories by labels from earlier answers, or by ids.

        Raises
        ------
        InvalidInputError
            There are more than 50 ids, one is not valid, one may mean two memories, or nothing may
            be written. Nothing was deleted.
        """
        self._check_writes()
        wanted = await self._meant(listed_ids(ids))
        unknown = (await self.retriever.get(wanted)).missing
        report = await self.retriever.writer().forget(wanted)
        gone = [id_ for id_ in wanted if id_ not in {*unknown, *report.kept}]
        size = await self._size()
        said = (
            f"Deleted {number_of(len(gone), 'memory', 'memories')}; "
            f"{number_of(len(unknown), 'id')} not found."
        )
        if report.kept:
            said += f" {len(report.kept)} stay as nodes, because they have data of other programs."
        if not report.certain:
            said += " An answer of the server was lost: some may stay as nodes without a text."
        data = {
            "deleted": gone,
            "unknown": list(unknown),
            "kept": list(report.kept),
            "certain": report.certain,
        }
        return Answer(text=f"{said} {self._now(size)}", data=self._about(size) | data)

    async def _with_ids(
        self, arguments: RememberArguments, recall_id: str | None
    ) -> RememberArguments:
        """Return the arguments of `remember` with labels replaced by ids."""
        known = {**arguments}
        for name in ("because_of", "about", "supersedes"):
            if name in arguments:
                known[name] = await self._meant(check_ids(arguments[name], name), recall_id)
        return cast("RememberArguments", known)

    async def _meant(self, names: Sequence[str], recall_id: str | None = None) -> tuple[str, ...]:
        """Return what `_named` does, unless a label is also the id of another memory.

        Labels avoid the ids that their recall found, but not those of the rest of the scope. With
        ``recall_id``, they are those of that recall.
        """
        ids = self._named(names, recall_id)
        if recall_id is not None:
            return ids
        labels = [name for name in names if self.recalls.place_of(self._reads, name)[1] != name]
        if labels and (found := (await self.retriever.get(labels)).memories):
            name = one_line(found[0].id)
            raise InvalidInputError(
                f"{name!r} is the label of one memory and the id of another: give [{name}] for the "
                "label; for the other one, recall it, and give its label there. Nothing was written"
            )
        return ids

    def _check_writes(self) -> None:
        if self.read_only:
            raise InvalidInputError("this memory may only be read: nothing was written")


def _check_feedback(used: tuple[str, ...], wrong: tuple[str, ...], trace: Trace) -> None:
    """Check both lists before anything is written."""
    if not used and not wrong:
        raise InvalidInputError("give memories that were used, or were wrong", field="used")
    if both := {*used} & {*wrong}:
        raise InvalidInputError(
            f"{number_of(len(both), 'id')} in both used and wrong: name each in only one of them",
            field="wrong",
        )
    if unknown := {*used, *wrong} - found_in(trace):
        raise InvalidInputError(
            f"the recall did not find {number_of(len(unknown), 'memory', 'memories')} of these: "
            "give labels from its text, or ids",
            field="wrong" if unknown <= {*wrong} else "used",
        )
