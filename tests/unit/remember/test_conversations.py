"""What conversations become, planned: memories and edges that can be counted by hand."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.errors import ConfigError, InvalidInputError
from memoria.ingest.rows import json_text
from memoria.remember import cursors
from memoria.remember.config import ConversationConfig
from memoria.remember.cursors import BATCH_MESSAGES, groups
from memoria.remember.ids import message_id, part_id, session_id, speaker_id, topic_id
from memoria.remember.mentions import Mention
from memoria.remember.parts import parts_of
from memoria.remember.plan import Plan, Planner
from memoria.remember.state import ConversationState, state_of_ids
from memoria.types import Conversation, Message

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Capitals:
    """Finds the words in capitals."""

    def extract(self, text: str) -> Iterable[Mention]:
        words = dict.fromkeys(word for word in text.split() if word.isupper() and len(word) > 1)
        return [Mention(name=word, kind="word", weight=0.5) for word in words]


def said(text: str, minutes: float = 0, **fields: Any) -> Message:
    return Message(text=text, created_at=NOON + timedelta(minutes=minutes), **fields)


def planned(
    messages: Iterable[Message],
    state: ConversationState | None = None,
    config: ConversationConfig | None = None,
    known: Iterable[str] = (),
    **names: Any,
) -> Plan:
    planner = Planner(
        Conversation(**{"id": "c", "messages": (), **names}),
        state or ConversationState(),
        known=set(known),
        config=config or ConversationConfig(),
    )
    planner.add(list(messages))
    return planner.plan().with_topics(Capitals())


def edges(plan: Plan) -> set[tuple[str, str, str, float]]:
    return {(r.source, r.relation, r.target, r.weight) for r in plan.relations}


def test_a_conversation_becomes_these_memories_and_edges() -> None:
    plan = planned(
        [
            said("be brief", role="system"),
            said("is MARS cold", 1),
            said("MARS is, VENUS no", 2, role="assistant"),
            said("back again", 300, speaker="Ann"),
            said("on MARS, I mean", 301, speaker="Ann", reply_to="2"),
        ]
    )
    assert {m.id: (m.kind, m.text) for m in plan.memories} == {
        "c:2": ("UserRequest", "is MARS cold"),
        "c:3": ("AgentAnswer", "MARS is, VENUS no"),
        "c:4": ("UserRequest", "back again"),
        "c:5": ("UserRequest", "on MARS, I mean"),
        "@session:c:1": ("Session", "c, session 1"),
        "@session:c:2": ("Session", "c, session 2"),
        "@speaker:ann": ("Speaker", "Ann"),
        "@topic:mars": ("Topic", "mars"),
        "@topic:venus": ("Topic", "venus"),
        "@topic:mars,": ("Topic", "mars,"),
    }
    assert edges(plan) == {
        ("c:2", "next", "c:3", 1.0),
        ("c:2", "next", "c:5", 1.0),  # an answer; a new session follows nothing
        ("c:2", "in_session", "@session:c:1", 0.5),
        ("c:3", "in_session", "@session:c:1", 0.5),
        ("c:4", "in_session", "@session:c:2", 0.5),
        ("c:5", "in_session", "@session:c:2", 0.5),
        ("@session:c:1", "next_session", "@session:c:2", 0.5),
        ("c:4", "said_by", "@speaker:ann", 0.2),
        ("c:5", "said_by", "@speaker:ann", 0.2),
        ("c:2", "mentions", "@topic:mars", 0.5),
        ("c:3", "mentions", "@topic:mars", 0.5),
        ("c:3", "mentions", "@topic:venus", 0.5),
        ("c:5", "mentions", "@topic:mars,", 0.5),
    }
    assert (plan.messages, plan.skipped, plan.parts, plan.sessions, plan.topics) == (4, 1, 4, 2, 3)


def test_a_message_keeps_what_is_known_of_it() -> None:
    plan = planned([said("hello", speaker="Ann", metadata={"channel": 7})], source="slack")
    memory = next(m for m in plan.memories if m.id == "slack:c:1")
    assert memory.created_at == NOON
    assert memory.metadata == {
        "channel": 7,
        "source": "slack",
        "conversation": "c",
        "role": "user",
        "speaker": "Ann",
    }
    assert memory.said == "Ann: hello"


def test_parts_continue_a_long_message_and_the_next_message_follows_its_first_part() -> None:
    long = said(" ".join(letter * 60 + "." for letter in "abc"))
    plan = planned([long, said("d", 1)], config=ConversationConfig(max_chars=100))
    assert [m.id for m in plan.memories if m.kind == "UserRequest"] == [
        "c:1",
        "c:1#2",
        "c:1#3",
        "c:2",
    ]
    assert {edge for edge in edges(plan) if edge[1] in ("next", "continued_by")} == {
        ("c:1", "continued_by", "c:1#2", 1.0),
        ("c:1#2", "continued_by", "c:1#3", 1.0),
        ("c:1", "next", "c:2", 1.0),
    }
    assert (plan.messages, plan.parts) == (2, 4)


def test_an_answer_to_the_message_before_follows_its_first_part() -> None:
    long = said("a" * 60 + ". " + "b" * 60, id="x")
    plan = planned([long, said("c", 1, reply_to="x")], config=ConversationConfig(max_chars=100))
    assert ("c:x", "next", "c:2", 1.0) in edges(plan)
    assert ("c:x#2", "next", "c:2", 1.0) not in edges(plan)


def test_an_answer_to_what_nobody_remembers_follows_the_message_before() -> None:
    plan = planned([said("a"), said("b", 1, reply_to="gone")])
    assert ("c:1", "next", "c:2", 1.0) in edges(plan)


def test_a_message_whose_id_came_before_is_left_out() -> None:
    plan = planned([said("a", id="x"), said("b", id="x")])
    assert (plan.messages, plan.skipped) == (1, 1)


def test_silence_begins_a_session_and_an_unknown_time_does_not() -> None:
    gap_s = 10_800
    messages = [said("a"), Message(text="b"), said("c", gap_s / 60), said("d", 2 * gap_s / 60 + 1)]
    assert planned(messages).sessions == 2
    assert planned(messages, config=ConversationConfig(session_gap_s=None)).sessions == 1


def test_edges_of_weight_zero_are_not_planned() -> None:
    plan = planned([said("a"), said("b", 1)], config=ConversationConfig(session_weight=0))
    assert edges(plan) == {("c:1", "next", "c:2", 1.0)}


MESSAGES = st.lists(
    st.builds(
        said,
        text=st.sampled_from(["MARS", "VENUS and MARS", " ", "x" * 250, "hello"]),
        minutes=st.sampled_from([0, 1, 200, 500]),
        role=st.sampled_from(["user", "assistant", "system"]),
        speaker=st.sampled_from([None, "Ann", "Bob"]),
        id=st.sampled_from([None, "m", "n"]),
        reply_to=st.sampled_from([None, "1", "m", "zzz"]),
    ),
    max_size=8,
)


@given(MESSAGES, st.integers(0, 8))
def test_messages_at_once_or_in_two_goes_give_the_same(messages: list[Message], cut: int) -> None:
    config = ConversationConfig(max_chars=100)
    whole = planned(messages, config=config)
    first = planned(messages[:cut], config=config)
    written = {m.id for m in first.memories}
    second = planned(messages[cut:], first.state, config, written)
    assert edges(first) | edges(second) == edges(whole)
    texts = [{m.id: m.text for m in plan.memories} for plan in (first, second, whole)]
    assert texts[0] | texts[1] == texts[2]
    assert second.state == whole.state


def test_parts_are_cut_at_paragraphs_then_sentences_then_words_then_anywhere() -> None:
    assert parts_of("one two six\n\nx. five seven", 20) == ["one two six", "x. five seven"]
    assert parts_of("one two three. four five", 20) == ["one two three.", "four five"]
    assert parts_of("one two three four five", 15) == ["one two three", "four five"]
    assert parts_of("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
    assert parts_of("  \n ", 10) == []


def test_a_character_of_a_script_without_spaces_counts_three() -> None:
    # 3 and 9 make 12; the next would be 15.
    assert parts_of("abc日本語日本語", 12) == ["abc日本語", "日本語"]
    assert parts_of("日本。語日本。語", 12) == ["日本。", "語日本。", "語"]
    assert parts_of("日本語", 9) == ["日本語"]
    assert parts_of("日本語abc日", 10) == ["日本語a", "bc日"]
    assert parts_of("日本語日", 11) == ["日本語", "日"]


@given(st.text(), st.integers(10, 50))
def test_parts_lose_nothing_but_blanks(text: str, max_chars: int) -> None:
    parts = parts_of(text, max_chars)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(len(part) <= max_chars for part in parts)


NAMES = st.text(alphabet=":#%@~ab1", max_size=6)


@given(st.tuples(NAMES, NAMES, NAMES), st.tuples(NAMES, NAMES, NAMES))
def test_no_two_messages_share_an_id(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    if all(one[1:]) and all(other[1:]) and one != other:
        assert message_id(*one) != message_id(*other)
        assert part_id(message_id(*one), 2) != message_id(*other)


@given(NAMES, NAMES, NAMES)
def test_no_connector_has_the_id_of_a_message(one: str, two: str, three: str) -> None:
    if two and three:
        id_ = message_id(one, two, three)
        assert not id_.startswith("@")
        assert session_id(one, two, 1) != speaker_id(three) != topic_id(three)


def test_ids_of_long_names_stay_within_what_an_id_may_have() -> None:
    long = "ü" * 256
    ids = [message_id(long, long, long), session_id(long, long, 10**9), topic_id(long)]
    assert all(len(id_.encode()) <= 512 for id_ in ids)
    assert topic_id(long) != topic_id(long[1:])


def test_a_state_survives_its_metadata() -> None:
    state = planned([said("MARS")], metadata={"a": 1}, title="T").state.with_token("t")
    assert state.messages == 1
    assert ConversationState.read('{"x": 1}') is None
    assert ConversationState.read("[]") is None
    assert ConversationState.read(json_text(state.metadata(), "metadata")) == state


def test_a_state_can_be_had_from_what_is_left() -> None:
    left = ["c:7", "c:9", "c:9#2", "@session:c:3", "c:x:1"]
    state = state_of_ids(left, "", "c")
    assert (state.messages, state.sessions, state.last) == (9, 3, "c:9")
    assert state_of_ids([], "", "c") == ConversationState()
    assert state_of_ids(["c:m9", "c:m11#2", "c:m11", "c:m10"], "", "c").last == "c:m11"
    assert state_of_ids(["c:9#3", "c:9#2"], "", "c").last == "c:9#2"


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_step_that_was_planned_ahead_is_not_planned_again(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cursors, "BATCH_MESSAGES", 2)
    made = []
    plan = Planner.plan

    def counted(planner: Planner) -> Plan:
        made.append(planner)
        return plan(planner)

    monkeypatch.setattr(Planner, "plan", counted)
    messages = [said(f"message {number}", number) for number in range(2 * steps)]
    cursor = cursors.Cursor(Conversation(id="c", messages=messages), ConversationConfig())
    stored = cursors.StoredConversation(metadata=None, state=None)
    ahead = cursor.step(stored)
    while ahead is not None:  # as a writer does: the next step is asked for twice
        cursor.step_after(ahead)
        step = cursor.step(stored)
        assert step is not None
        assert step.plan is ahead.plan
        ahead = cursor.step_after(step)
        cursor.advance(step.plan)
        stored = cursors.StoredConversation(metadata=None, state=step.state)
    assert cursor.done
    assert len(made) == steps


def test_conversations_are_grouped_up_to_a_number_of_messages() -> None:
    def conversation(id_: str, count: int) -> Conversation:
        return Conversation(id=id_, messages=[Message(text="a")] * count)

    given_ = [conversation("a", BATCH_MESSAGES - 20), conversation("b", 20), conversation("c", 1)]
    assert [[c.id for c in group] for group in groups(given_)] == [["a", "b"], ["c"]]
    again = [conversation("a", 1), conversation("a", 2)]
    assert [[c.id for c in group] for group in groups(again)] == [["a"], ["a"]]
    large = [conversation("a", 3 * BATCH_MESSAGES)]
    assert [[c.id for c in group] for group in groups(large)] == [["a"]]
    with pytest.raises(InvalidInputError, match="conversations must contain Conversation"):
        list(groups(["a"]))  # type: ignore[list-item]
    with pytest.raises(InvalidInputError, match="write \\[conversation\\]"):
        list(groups(conversation("a", 1)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings",
    [
        {"max_chars": 10},
        {"session_gap_s": 0},
        {"next_weight": 2},
        {"kinds": {"boss": "Event"}},
        {"kinds": {"user": "a b"}},
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        ConversationConfig(**settings)


def test_a_wrong_time_or_message_says_what_was_given_and_how_to_make_one() -> None:
    time: Any = "2026-05-01"
    with pytest.raises(InvalidInputError, match=r"got a str: datetime\.fromisoformat"):
        Message(text="x", created_at=time)
    message: Any = {"text": "x"}
    with pytest.raises(InvalidInputError) as said:
        Conversation(id="c", messages=[message])
    assert "got a dict: write Message(text=..., role=...)" in str(said.value)
