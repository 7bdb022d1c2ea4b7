"""Whole conversations on their way into the graph, a few messages at a time.

In: conversations, and their stored state. Out: the next `Step` of each. Touches
nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace

from memoria._support.wording import kind_of
from memoria.errors import InvalidInputError
from memoria.remember.config import ConversationConfig
from memoria.remember.ids import message_id, named, session_id
from memoria.remember.mentions import Extractor
from memoria.remember.plan import Plan, Planner
from memoria.remember.state import ConversationState, digest_of
from memoria.types import Conversation, ConversationReport, Memory, Message

#: Messages and characters in one transaction, at most; a longer message has one to itself.
BATCH_MESSAGES = 512
BATCH_CHARS = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConversation:
    """Stored state of a conversation: the metadata of its first session, and the state in them."""

    metadata: str | None
    state: ConversationState | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The next messages of a conversation: what to write, and on which state that builds.

    Attributes
    ----------
    rewrites
        Whether other messages may stand at the places of these.
    blank
        Ids of these messages that are blank, and of which no other message has the id.
    """

    root: str
    stored: StoredConversation
    plan: Plan
    state: ConversationState
    rewrites: bool = False
    blank: frozenset[str] = frozenset()

    def with_topics(self, extractor: Extractor | None) -> Step:
        """Return the step with what its messages mention."""
        return replace(self, plan=self.plan.with_topics(extractor))

    def memories(self) -> list[Memory]:
        """Return the memories of the plan; the first session keeps the state."""
        metadata = self.state.metadata()
        return [
            replace(memory, metadata=metadata) if memory.id == self.root else memory
            for memory in self.plan.memories
        ]


class Cursor:
    """How far the writing of a whole conversation is."""

    def __init__(self, conversation: Conversation, config: ConversationConfig) -> None:
        self.conversation = conversation
        self.known = self.skipped = 0  # messages that were there, or left out, before
        names, roles = (conversation.source, conversation.id), set(config.kinds)
        self._all_ids = [message_id(*names, name) for name in names_of(conversation.messages)]
        self._ids = [  # of what is written; None for what is left out
            id_ if message.role in roles and message.text.strip() else None
            for id_, message in zip(self._all_ids, conversation.messages, strict=True)
        ]
        clashing = clashes(conversation.messages, roles)
        self.problems = clash_problems(conversation, clashing.values())
        self._position = 0
        self._own = ConversationState()
        self._config = config
        # Place -> the state before, and the plan of what comes there; this step and the next one.
        self._plans: dict[int, tuple[ConversationState, Plan]] = {}
        self._digests = [""]
        for message in conversation.messages:
            self._digests.append(digest_of(self._digests[-1], message))

    @property
    def done(self) -> bool:
        """Tell whether all messages are written."""
        return self._position >= len(self.conversation.messages)

    def step(self, stored: StoredConversation) -> Step | None:
        """Plan the next messages, without what they mention; None if all of them are stored.

        Where the stored conversation is not a beginning of this one, all of this one is written,
        and the stored state only grows: nothing that was appended is overwritten.
        """
        messages = self.conversation.messages
        state = stored.state or ConversationState()
        before = self._own
        if state.messages <= len(messages) and self._digests[state.messages] == state.digest:
            self._count(state.messages)
            self._position, before = state.messages, state
        if self.done:
            return None
        end = self._position + _fitting(messages[self._position :])
        plan = self._plan(before, end)
        furthest = plan.state if plan.state.messages >= state.messages else state
        return Step(
            root=session_id(self.conversation.source, self.conversation.id, 1),
            stored=stored,
            plan=plan,
            state=replace(furthest, tokens=state.tokens),
            rewrites=before is not stored.state,
            blank=self._blank(end),
        )

    def advance(self, plan: Plan) -> None:
        """Go on after the messages of a plan that was written."""
        self._position += plan.messages + plan.skipped
        self._own = plan.state
        self._plans = {
            place: each for place, each in self._plans.items() if place >= self._position
        }

    def step_after(self, step: Step) -> Step | None:
        """Plan what will come after a step, if nobody else writes meanwhile."""
        after = copy(self)
        after.advance(step.plan)
        following = after.step(StoredConversation(metadata=None, state=step.state))
        self._plans |= after._plans
        return following

    def _plan(self, before: ConversationState, end: int) -> Plan:
        """Plan the messages up to a place; what was planned ahead of time is not planned again."""
        planned = self._plans.get(self._position)
        if planned is None or planned[0] != before:
            written = self._written(self._position)
            planner = Planner(self.conversation, before, known=written, config=self._config)
            planner.add(self.conversation.messages[self._position : end])
            planned = self._plans[self._position] = (before, planner.plan())
        return planned[1]

    def take_counts(self) -> ConversationReport:
        """Return how many messages were there, or left out, before; each is counted once."""
        counts = ConversationReport(known=self.known, skipped=self.skipped)
        self.known = self.skipped = 0
        return counts

    def _count(self, end: int) -> None:
        """Count the messages up to a place that somebody has written meanwhile."""
        if (passed := end - self._position) > 0:
            known = len(self._written(end)) - len(self._written(self._position))
            self.known += known
            self.skipped += passed - known

    def _written(self, end: int) -> set[str]:
        """Return the ids of the messages before a place that were not left out."""
        return {id_ for id_ in self._ids[:end] if id_ is not None}

    def _blank(self, end: int) -> frozenset[str]:
        """Return the ids of the next messages, up to a place, that are blank."""
        following = slice(self._position, end)
        said = zip(self._all_ids[following], self.conversation.messages[following], strict=True)
        blank = {id_ for id_, message in said if not message.text.strip()}
        return frozenset(blank.difference(self._ids)) if blank else frozenset()


def names_of(messages: Sequence[Message], state: ConversationState | None = None) -> list[str]:
    """Return the names of the next messages of a conversation: their ids, or numbers."""
    before = state or ConversationState()
    names, taken = [], before.taken
    for place, message in enumerate(messages, start=before.messages + 1):
        name, taken = named(message.id, place=place, taken=taken)
        names.append(name)
    return names


def says(role: str, text: str) -> tuple[str, str]:
    """Return by which a message is known to be the same: its role, and its text without blanks."""
    return role, "".join(text.split())


def clashes(
    messages: Sequence[Message], roles: Container[str], state: ConversationState | None = None
) -> dict[int, str]:
    """Return which messages can't be kept: an earlier one has their name, but says something else.

    Returns
    -------
    dict
        Place among the messages, from 0 -> name of the message.
    """
    found: dict[int, str] = {}
    first: dict[str, tuple[str, str]] = {}
    for place, (name, each) in enumerate(zip(names_of(messages, state), messages, strict=True)):
        if each.role in roles and each.text.strip():
            said = says(each.role, each.text)
            if first.setdefault(name, said) != said:
                found[place] = name
    return found


def clash_problems(conversation: Conversation, names: Iterable[str]) -> list[str]:
    """Say of messages that they are left out because of their names."""
    return [
        f"conversation {conversation.id!r:.80}: a message is left out, because its id {name!r:.80} "
        "is that of an earlier message with another text"
        for name in names
    ]


def _fitting(messages: Sequence[Message]) -> int:
    """Return how many of the next messages one transaction takes; at least one."""
    held = 0
    for count, message in enumerate(messages[:BATCH_MESSAGES]):
        held += len(message.text)
        if held > BATCH_CHARS and count:
            return count
    return min(len(messages), BATCH_MESSAGES)


def groups(conversations: Iterable[Conversation]) -> Iterator[list[Conversation]]:
    """Put conversations together that fit into one transaction; no two of a group are the same."""
    if isinstance(conversations, Conversation):
        raise InvalidInputError(
            "conversations must be a list of Conversation, got one: write [conversation]",
            field="conversations",
        )
    group: dict[tuple[str, str], Conversation] = {}
    held = chars = 0
    for conversation in conversations:
        if not isinstance(conversation, Conversation):
            raise InvalidInputError(
                f"conversations must contain Conversation, got {kind_of(conversation)}",
                field="conversations",
            )
        name = (conversation.source, conversation.id)
        count = len(conversation.messages)
        size = sum(len(message.text) for message in conversation.messages)
        is_full = held + count > BATCH_MESSAGES or chars + size > BATCH_CHARS
        if group and (name in group or is_full):
            yield list(group.values())
            group, held, chars = {}, 0, 0
        group[name] = conversation
        held += count
        chars += size
    if group:
        yield list(group.values())
