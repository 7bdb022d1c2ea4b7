"""Read how far conversations are written, and write what was planned of them.

In: conversations, steps. Out: their stored state; counts of written memories and edges.
Writes, in one transaction. Queries: ``graph.hydrate``, ``ingest.forget``, ``remember.begun``,
``remember.connectors``, ``remember.lock``, ``remember.rewrite``, ``remember.states``, and those of
the batch writer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memoria.graph.connectors import is_connector
from memoria.graph.hydrate import hydrate
from memoria.graph.vocabulary import IN_SESSION, MENTIONS, SAID_BY, whole_id
from memoria.ingest.joint import JointWriter
from memoria.remember.cursors import Step, StoredConversation, says
from memoria.remember.ids import conversation_prefix, further_parts_prefix, number_in, session_id
from memoria.remember.state import ConversationState, state_of_ids
from memoria.remember.topics import by_id, write_connectors
from memoria.store import Store, Transaction
from memoria.store.queries import load
from memoria.types import Conversation, ConversationReport, WriteReport


class ChangedError(Exception):
    """Another writer wrote one of the conversations meanwhile. Never leaves this room."""


class ConversationGraph:
    """The stored state of the conversations of one scope."""

    def __init__(self, batches: JointWriter, store: Store, clock: Callable[[], datetime]) -> None:
        self._batches = batches
        self._store = store
        self._clock = clock
        self._forgetting = batches.forgetting()

    async def read(
        self, conversations: Sequence[Conversation], wanted: Sequence[str]
    ) -> tuple[list[StoredConversation], list[str]]:
        """Read how far conversations are written, and which of the wanted memories exist."""
        roots = [session_id(each.source, each.id, 1) for each in conversations]
        parameters = {"ids": roots, "scope": self._batches.scope, "wanted": sorted(set(wanted))}
        row = (await self._store.run(load("remember.states"), parameters))[0]
        found: dict[str, str | None] = dict(row["states"])
        stored = [found.get(root) for root in roots]
        return [
            StoredConversation(metadata=m, state=ConversationState.read(m)) for m in stored
        ], row["known"]

    async def left_of(self, head: Conversation) -> ConversationState:
        """Return the state of a conversation that has none: it is new, or its beginning is gone."""
        names = (head.source, head.id)
        prefixes = [conversation_prefix(*names), session_id(*names, 0)[:-1]]
        parameters = {"prefixes": prefixes, "scope": self._batches.scope}
        row = (await self._store.run(load("remember.begun"), parameters))[0]
        return state_of_ids([id_ for ids in row["ids"] for id_ in ids], *names)

    async def said(self, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return role and text of stored messages, as `says` does; memories without a role are not.

        Their parts are put together again: they may have been cut in another way.
        """
        scope = self._batches.scope
        parameters = {"prefixes": [further_parts_prefix(id_) for id_ in ids], "scope": scope}
        further = (await self._store.run(load("remember.begun"), parameters))[0]["ids"]
        parts = {
            id_: [id_, *sorted(others, key=lambda part: number_in(part.rpartition("#")[2]))]
            for id_, others in zip(ids, further, strict=True)
        }
        every = [part for each in parts.values() for part in each]
        read = await hydrate(self._store, every, scope=scope, until=None)
        return {
            id_: says(str(read[id_].metadata["role"]), "".join(read[p].text for p in each))
            for id_, each in parts.items()
            if id_ in read and "role" in read[id_].metadata
        }

    async def commit(
        self,
        steps: Sequence[Step],
        vectors: Mapping[str, Sequence[float] | None],
        *,
        said_now: bool,
    ) -> ConversationReport:
        """Write steps in one transaction, unless a conversation was written meanwhile.

        Messages without a time get the time of writing if they are ``said_now``, else none: the
        time of an import would be taken for theirs.
        """
        expected = {step.root: step.stored.metadata for step in steps}
        memories = [memory for step in steps for memory in step.memories()]
        for memory in memories:
            self._batches.check_memory(memory)

        connectors = by_id(m for m in memories if is_connector(m) and m.id not in expected)
        others = [memory for memory in memories if memory.id not in connectors]
        messages = [memory.id for memory in others if not is_connector(memory)]
        gone = await self._no_longer_said(steps)
        joint = await self._batches.prepare(
            others,
            [relation for step in steps for relation in step.plan.relations],
            skip_missing=True,  # only a message that was forgotten since can be missing
            undated=() if said_now else set(messages),
            vectors=vectors,
        )

        async def work(transaction: Transaction) -> ConversationReport:
            parameters = {"ids": sorted(expected), "scope": self._batches.scope}
            locked = (await transaction.run(load("remember.lock"), parameters))[0]
            if dict(locked["states"]) != expected:
                raise ChangedError
            freed = await self._make_room(transaction, steps, connectors)
            forgotten = await self._forgetting.within(
                transaction, gone, stay=[*expected, *connectors]
            )
            created = await write_connectors(
                transaction, self._batches.scope, connectors.values(), now=self._clock()
            )
            written = await joint.write(transaction)
            connected = WriteReport(memories=len(connectors), memories_created=created)
            return ConversationReport(
                forgotten=forgotten.deleted,
                connectors=freed + forgotten.connectors,
                written=written.plus(connected),
            )

        try:
            done, links = await self._batches.commit(work, joint, name="remember.lock")
        except ChangedError:
            # It may have been this very call, whose answer was lost before it came to the links.
            if self._batches.linker is not None:
                await self._batches.linker.link(messages, only_new=True)
            raise
        return replace(done, written=done.written.plus(links))

    async def _no_longer_said(self, steps: Sequence[Step]) -> list[str]:
        """Return the messages that may stand and are blank now, and the parts that are too many.

        They can't change before the transaction that forgets them: it ends if the state of the
        conversation is another one.
        """
        rewriting = [step for step in steps if step.rewrites and step.stored.state is not None]
        blank = {id_ for step in rewriting for id_ in step.blank}
        written = {m.id for s in rewriting for m in s.plan.memories if not is_connector(m)}
        beginnings = sorted({further_parts_prefix(whole_id(id_)) for id_ in written | blank})
        if not beginnings:
            return []
        parameters = {"prefixes": beginnings, "scope": self._batches.scope}
        row = (await self._store.run(load("remember.begun"), parameters))[0]
        return sorted(blank | {id_ for ids in row["ids"] for id_ in ids} - written)

    async def _make_room(
        self, transaction: Transaction, steps: Sequence[Step], stay: Iterable[str]
    ) -> int:
        """Delete the edges that rewritten messages lose; return how many connectors went."""
        keep: defaultdict[str, list[list[str]]] = defaultdict(list)
        rewritten = [step.plan for step in steps if step.rewrites]
        if not rewritten:
            return 0
        for plan in rewritten:
            for relation in plan.relations:
                keep[relation.source].append([relation.relation, relation.target])
        memories = [m.id for plan in rewritten for m in plan.memories if not is_connector(m)]
        parameters = {
            "parts": [{"id": id_, "keep": keep[id_]} for id_ in memories],
            "relations": [IN_SESSION, MENTIONS, SAID_BY],
            "renamed": [],
            "scope": self._batches.scope,
            "stay": sorted(stay),
        }
        freed: int = (await transaction.run(load("remember.rewrite"), parameters))[0]["freed"]
        return freed
