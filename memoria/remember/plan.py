"""Plan what messages become: memories, connectors, edges.

In: messages, and how far their conversation was written before. Out: a `Plan`. Touches nothing: the
same messages after the same state give the same plan, whether they come at once or one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memoria.graph.vocabulary import CONTINUED_BY, IN_SESSION, MENTIONS, NEXT, NEXT_SESSION, SAID_BY
from memoria.remember.config import ConversationConfig
from memoria.remember.ids import message_id, named, part_id, session_id, speaker_id
from memoria.remember.mentions import Extractor, mentions_in
from memoria.remember.parts import parts_of
from memoria.remember.state import ConversationState, digest_of
from memoria.remember.topics import topic_of
from memoria.types import Conversation, Memory, Message, Relation
from memoria.types.memory import CONVERSATION


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be written of some messages.

    Attributes
    ----------
    memories
        The memories, and the connectors that they need; none twice.
    relations
        The edges. Their ends are among the memories, or were written before.
    said
        Id of each memory of a message -> its text.
    state
        How far the conversation is written then.
    messages, skipped, parts, sessions, topics
        Counts, as in `ConversationReport`.
    """

    memories: tuple[Memory, ...]
    relations: tuple[Relation, ...]
    said: Mapping[str, str]
    state: ConversationState
    messages: int
    skipped: int
    parts: int
    sessions: int
    topics: int = 0

    def with_topics(self, extractor: Extractor | None) -> Plan:
        """Return the plan with what its messages mention, and the edges to that."""
        if extractor is None:
            return self
        topics: dict[str, Memory] = {}
        relations = []
        for id_, text in self.said.items():
            for mention in mentions_in(text, extractor):
                topic = topic_of(mention, topics)
                topics[topic.id] = topic
                relations.append(_edge(id_, topic.id, MENTIONS, mention.weight))
        return replace(
            self,
            memories=(*self.memories, *topics.values()),
            relations=(*self.relations, *_kept(relations)),
            topics=len(topics),
        )


class Planner:
    """Plans the messages of one conversation, in order, but for what they mention.

    Parameters
    ----------
    conversation
        Names the conversation; its messages are not read.
    state
        How far it is written.
    known
        Ids of messages that can be answered, besides those that are planned here.
    """

    def __init__(
        self,
        conversation: Conversation,
        state: ConversationState,
        *,
        known: Collection[str],
        config: ConversationConfig,
    ) -> None:
        self._conversation = conversation
        self._names = (conversation.source, conversation.id)
        title = conversation.title if conversation.title is not None else state.title
        more = {**state.more, **conversation.metadata}
        self._state = replace(state, title=title, more=more)
        self._before = state
        self._known = set(known)
        self._config = config
        self._memories: dict[str, Memory] = {}
        self._relations: list[Relation] = []
        self._messages = self._skipped = self._parts = 0
        self._said: dict[str, str] = {}

    def add(self, messages: Sequence[Message]) -> None:
        """Plan the next messages."""
        for message in messages:
            number = self._state.messages + 1
            before = self._state
            name, taken = named(message.id, place=number, taken=before.taken)
            id_ = message_id(*self._names, name)
            digest = digest_of(before.digest, message)
            self._state = replace(before, messages=number, taken=taken, digest=digest)
            kind = self._config.kinds.get(message.role)
            if kind is None or not message.text.strip() or id_ in self._known:
                self._skipped += 1
                continue
            self._add(message, id_, kind)
            self._known.add(id_)
            self._messages += 1

    def plan(self) -> Plan:
        """Return the plan, without the first session's metadata, which keep the state."""
        self._add_session(1, None)
        return Plan(
            memories=tuple(self._memories.values()),
            relations=_kept(self._relations),
            said=dict(self._said),
            state=self._state,
            messages=self._messages,
            skipped=self._skipped,
            parts=self._parts,
            sessions=self._state.sessions - self._before.sessions,
        )

    def _add(self, message: Message, id_: str, kind: str) -> None:
        """Plan one message: its parts, each continuing the one before, after what it answers."""
        before = self._state
        begins = self._begins_session(message)
        session = before.sessions + begins
        self._enter(session, message.created_at, begins=begins)
        after, relation = self._answered(message, before.last, begins=begins), NEXT
        speaker = self._add_speaker(message)
        for number, text in enumerate(parts_of(message.text, self._config.max_chars), start=1):
            part = part_id(id_, number)
            self._memories[part] = self._memory(message, part, kind, text)
            self._parts += 1
            if after is not None:
                self._join(after, part, relation, self._config.next_weight)
            self._join(
                part, session_id(*self._names, session), IN_SESSION, self._config.session_weight
            )
            if speaker is not None:
                self._join(part, speaker, SAID_BY, self._config.speaker_weight)
            self._said[part] = text
            after, relation = part, CONTINUED_BY
        said_at = message.created_at.isoformat() if message.created_at else before.last_at
        self._state = replace(self._state, sessions=session, last=id_, last_at=said_at)

    def _begins_session(self, message: Message) -> bool:
        state, gap_s = self._state, self._config.session_gap_s
        if state.sessions == 0 or gap_s is None or message.created_at is None:
            return state.sessions == 0
        last = state.said_at
        return last is not None and (message.created_at - last).total_seconds() > gap_s

    def _enter(self, session: int, at: datetime | None, *, begins: bool) -> None:
        """Plan the session of a message, and the edge from the session before."""
        here = self._add_session(session, at if begins else None)
        if begins and session > 1:
            before = self._add_session(session - 1, None)
            self._join(before, here, NEXT_SESSION, self._config.next_session_weight)

    def _answered(self, message: Message, last: str | None, *, begins: bool) -> str | None:
        """Return the memory after which a message comes: what it answers, or the last one."""
        if message.reply_to is not None:
            answered = message_id(*self._names, message.reply_to)
            if answered in self._known:
                return answered
        return None if begins else last

    def _memory(self, message: Message, id_: str, kind: str, text: str) -> Memory:
        source, conversation = self._names
        names = {
            "source": source,
            CONVERSATION: conversation,
            "role": message.role,
            "speaker": message.speaker,
        }
        return Memory(
            id=id_,
            kind=kind,
            # The speaker is kept out of the text: there, the name would match every question that
            # names the speaker.
            text=text,
            created_at=message.created_at,
            metadata={**message.metadata, **{key: name for key, name in names.items() if name}},
        )

    def _add_session(self, number: int, at: datetime | None) -> str:
        """Plan a session, unless it is planned already; the time of one that stands is kept."""
        id_ = session_id(*self._names, number)
        if id_ not in self._memories:
            name = self._state.title or self._conversation.id
            self._memories[id_] = Memory(
                id=id_, kind="Session", text=f"{name}, session {number}", created_at=at
            )
        return id_

    def _add_speaker(self, message: Message) -> str | None:
        """Plan the speaker of a message. Without a name there is none: the kind tells the role."""
        if message.speaker is None:
            return None
        id_ = speaker_id(message.speaker)
        if id_ not in self._memories:
            self._memories[id_] = Memory(id=id_, kind="Speaker", text=message.speaker)
        return id_

    def _join(self, source: str, target: str, relation: str, weight: float) -> None:
        self._relations.append(_edge(source, target, relation, weight))


def _edge(source: str, target: str, relation: str, weight: float) -> Relation:
    return Relation(source=source, target=target, relation=relation, weight=weight)


def _kept(edges: Iterable[Relation]) -> tuple[Relation, ...]:
    return tuple(edge for edge in edges if edge.weight > 0 and edge.source != edge.target)
