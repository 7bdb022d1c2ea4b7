"""Features of a conversation: hand-made cases, then generated texts outside conversations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.recall.ranking import NOTHING_KNOWN, Candidate, rank_by_relevance, with_session
from memoria.recall.ranking.config import RelevanceConfig
from memoria.recall.ranking.features import features
from memoria.recall.ranking.talk import asks_what_you_said
from memoria.types import MemoryNode, RankedMemory
from tests.for_each import for_each
from tests.unit.recall.ranking.test_relevance import candidate, feature, linked, lone, texts

ONE_SESSION = dict.fromkeys("abc", ("s", 3))
TALK = ("user", "assistant", "speaker", "echo", "session", "opening")


def said(name: str, text: str = "pier", kind: str = "Event", **metadata: Any) -> Candidate:
    node = MemoryNode(id=name, kind=kind, text=text, metadata=metadata)
    return Candidate(memory=node, path=lone(name, 0.5))


# --- who speaks -------------------------------------------------------------------------------


def test_what_the_user_said_counts_where_the_assistant_spoke_too() -> None:
    all_ = [said("a", role="user"), said("b", role="assistant"), said("c", role="tool"), said("d")]
    assert feature("user", "Where do I live?", *all_) == [1.0, 0.0, 0.0, 0.0]
    assert feature("assistant", "Where do I live?", *all_) == [0.0] * 4


def test_what_the_assistant_said_counts_where_the_query_asks_for_it() -> None:
    all_ = [said("a", role="user"), said("b", role="assistant"), said("c", role="tool"), said("d")]
    assert feature("user", "What did you recommend?", *all_) == [0.0] * 4
    assert feature("assistant", "What did you recommend?", *all_) == [0.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("query", ["Where do I live?", "What did you recommend?"])
def test_where_only_one_role_was_found_roles_count_nothing(role: str, query: str) -> None:
    all_ = [said("a", role=role), said("b", role="tool"), said("c")]
    assert feature("user", query, *all_) == feature("assistant", query, *all_) == [0.0] * 3


def test_a_kind_is_no_role() -> None:
    all_ = [said("a", kind="UserRequest"), said("b", kind="AgentAnswer")]
    assert feature("user", "q", *all_) == [0.0, 0.0]


def test_a_role_that_is_not_text_is_no_role() -> None:
    all_ = [said("a", role=7), said("b", role="assistant"), said("c", role="user")]
    assert feature("user", "q", *all_) == [0.0, 0.0, 1.0]


@for_each(
    "query",
    [
        "Which dose did you recommend?",
        "What have you told me about Rome?",
        "What was your advice?",
        "DID YOU SAY SO?",
        "Welches Buch hast du empfohlen?",
        "Was haben Sie mir geraten?",
        "Quel livre as-tu recommandé ?",
        "Que m'avez-vous conseillé ?",
        "¿Qué me recomendaste?",
        "¿Qué libro me has recomendado?",
        "Che libro mi hai consigliato?",
        "O que você me disse ontem?",
        "Que livro você recomendou?",
        "Welk boek heb je aanbevolen?",
        "Wat zei je over de haven?",
        "Какую книгу ты мне посоветовала?",
        "Что ты сказал?",
    ],
)
def test_a_question_of_what_the_assistant_said(query: str) -> None:
    assert asks_what_you_said(query)
    assert asks_what_you_said(f"  {query}\n")


@for_each(
    "query",
    [
        "",
        "?",
        "What would you suggest?",
        "Can you recommend a book?",
        "Do you know where I live?",
        "What did I recommend?",
        "What did yours cost?",
        "Did young people come?",
        "Kannst du mir ein Buch empfehlen?",
        "Was würdest du empfehlen?",
        "Peux-tu me conseiller un livre ?",
        "¿Puedes ayudarme?",
        "¿Qué me recomiendas?",
        "Puoi consigliarmi un libro?",
        "Você pode me ajudar?",
        "Kun je me helpen?",
        "Ты можешь помочь?",
        "Что ты посоветуешь?",
    ],
)
def test_a_question_of_something_else(query: str) -> None:
    assert not asks_what_you_said(query)


@pytest.mark.parametrize(
    "query",
    [
        "What did you recommend",
        "What did you recommend.",
        "I went to Rome. What did you recommend?",
        "What did you recommend? I forgot it. Really?",
        "What did you recommend?\nWas it a book?",
    ],
)
def test_only_one_sentence_that_asks_is_a_question_of_what_was_said(query: str) -> None:
    assert not asks_what_you_said(query)


# --- speakers ---------------------------------------------------------------------------------


@for_each(
    "speaker, query, named",
    [
        ("Ann", "What does Ann sell?", 1.0),
        ("Ann", "what does ann sell?", 1.0),
        ("Ann", "Who is Annabel?", 0.0),
        ("Ann Lee", "Where does Lee live?", 1.0),
        ("Ann Lee", "where does lee live?", 0.0),
        ("Project Manager", "What did the project manager say?", 1.0),
        ("Project Manager", "What did the project cost?", 0.0),
        ("Project Manager", "What did the Manager say?", 1.0),
        ("Ann-Marie", "Where is ann marie?", 1.0),
        ("Анна", "Где живёт Анна?", 1.0),
        ("X", "Where is X?", 0.0),
        ("", "Where is Ann?", 0.0),
    ],
)
def test_a_speaker_is_named_by_the_whole_name_or_a_part_with_a_capital(
    speaker: str, query: str, named: float
) -> None:
    assert feature("speaker", query, said("a", speaker=speaker), said("b")) == [named, 0.0]


def test_each_speaker_is_named_alone() -> None:
    all_ = [said("a", speaker="Ann"), said("b", speaker="Bob"), said("c", speaker=7)]
    assert feature("speaker", "Did Bob move?", *all_) == [0.0, 1.0, 0.0]


# --- echo -------------------------------------------------------------------------------------


def test_an_echo_holds_words_of_the_query_that_the_message_before_holds() -> None:
    # Both words are in two of the texts, so each is half of the query.
    all_ = [candidate("a", "ferry pier"), candidate("b", "ferry rope"), candidate("c", "pier oil")]
    facts = linked(
        ("a", "b", 1.0),
        ("b", "c", 1.0),
        adjacent={"a": "b", "b": "ac", "c": "b"},
        sessions=ONE_SESSION,
    )
    assert feature("echo", "the ferry, the pier", *all_, facts=facts) == [0.0, 0.5, 0.0]


def test_an_echo_of_all_words_is_whole() -> None:
    all_ = [candidate("a", "ferry pier"), candidate("b", "the pier, the ferry")]
    facts = linked(("a", "b", 1.0), adjacent={"a": "b", "b": "a"}, sessions=ONE_SESSION)
    assert feature("echo", "ferry pier", *all_, facts=facts) == [0.0, pytest.approx(1.0)]
    assert feature("echo", "sun", *all_, facts=facts) == [0.0, 0.0]


def test_parts_of_a_document_echo_nothing() -> None:
    all_ = [candidate("a", "Ferries\nfares"), candidate("b", "Ferries\npiers")]
    facts = linked(("a", "b", 1.0), adjacent={"a": "b", "b": "a"})
    assert feature("echo", "ferries", *all_, facts=facts) == [0.0, 0.0]


def test_an_edge_that_is_no_order_echoes_nothing() -> None:
    all_ = [candidate("a", "ferry"), candidate("b", "ferry")]
    facts = linked(("a", "b", 1.0), sessions=ONE_SESSION)
    assert feature("echo", "ferry", *all_, facts=facts) == [0.0, 0.0]


def test_what_was_not_found_echoes_nothing() -> None:
    all_ = [candidate("b", "ferry"), candidate("c", "ferry")]
    facts = linked(("a", "b", 1.0), adjacent={"b": "a"}, sessions=ONE_SESSION)
    assert feature("echo", "ferry", *all_, facts=facts) == [0.0, 0.0]


# --- sessions ---------------------------------------------------------------------------------


def of_session(*names: str, size: int = 4) -> Mapping[str, tuple[str, int]]:
    return dict.fromkeys(names, ("s", size))


def test_a_session_gives_the_best_match_of_another_message_over_the_root_of_its_size() -> None:
    all_ = [candidate(name, "pier") for name in "abcd"]
    facts = linked(
        cosines={"a": 1.0, "b": 0.5, "c": 0.0, "d": 0.9}, sessions=of_session("a", "b", "c")
    )
    # The matches are the third powers, 1 and 0.125; the root of the size is 2.
    found = feature("session", "q", *all_, facts=facts)
    assert found == pytest.approx([0.125 / 2, 1 / 2, 1 / 2, 0.0])


def test_a_message_alone_in_its_session_gets_nothing() -> None:
    all_ = [candidate(name, "pier") for name in "ab"]
    facts = linked(cosines={"a": 1.0, "b": 1.0}, sessions={"a": ("s", 4), "b": ("t", 4)})
    assert feature("session", "q", *all_, facts=facts) == [0.0, 0.0]


def test_a_session_is_at_least_as_large_as_what_was_found_of_it() -> None:
    all_ = [candidate(name, "pier") for name in "abcd"]
    cosines = dict.fromkeys("abcd", 0.0) | {"a": 1.0}
    facts = linked(cosines=cosines, sessions=of_session(*"abcd", size=1))
    assert feature("session", "q", *all_, facts=facts) == [0.0, 0.5, 0.5, 0.5]


def test_a_session_hands_on_a_fifth_of_the_best_odds_over_the_root_of_its_size() -> None:
    sums = np.log([8.0, 1.0, 2.0, 20.0])
    found = np.exp(with_session(sums, sums, "abcd", of_session("a", "b", "c"))).tolist()
    # a gains from c, the second best: 0.2 * 2 / 2; the others gain from a: 0.2 * 8 / 2.
    assert found == pytest.approx([8.0 + 0.2, 1.0 + 0.8, 2.0 + 0.8, 20.0])


def test_the_larger_a_session_the_less_it_hands_on() -> None:
    sums = np.log([8.0, 1.0])
    small, large = (
        np.exp(with_session(sums, sums, "ab", of_session("a", "b", size=size)))[1]
        for size in (4, 400)
    )
    assert (small, large) == (pytest.approx(1.8), pytest.approx(1.08))


def test_equal_messages_of_a_session_get_the_same() -> None:
    sums = np.log([8.0, 8.0, 1.0])
    found = np.exp(with_session(sums, sums, "abc", of_session(*"abc"))).tolist()
    assert found == pytest.approx([8.8, 8.8, 1.8])


def test_what_was_taught_of_a_message_is_not_handed_to_its_session() -> None:
    sums, by_query = np.log([80.0, 1.0]), np.log([8.0, 1.0])
    found = np.exp(with_session(sums, by_query, "ab", of_session("a", "b"))).tolist()
    assert found == pytest.approx([80.0 + 0.1, 1.0 + 0.8])


def test_what_the_user_opens_a_session_with_counts_less_in_a_long_one() -> None:
    all_ = [said(name, role="user") for name in "abc"] + [said("d", role="assistant")]
    sessions = {"a": ("s", 4), "b": ("s", 4), "c": ("t", 36), "d": ("u", 4)}
    facts = replace(NOTHING_KNOWN, sessions=sessions, opening={"a", "c", "d"})
    assert feature("opening", "pier", *all_, facts=facts) == [1.0, 0.0, 0.5, 0.0]
    asks = "What did you recommend?"
    assert feature("opening", asks, *all_, facts=facts) == [0.0] * 4
    assert feature("opening", "pier", *all_[:3], facts=facts) == [0.0] * 3, "of one role only"


@pytest.mark.parametrize("text", ["Hello!", "How do I mend the pier?"])
def test_a_courtesy_or_a_mere_question_opens_nothing(text: str) -> None:
    all_ = [said("a", text, role="user"), said("b", role="assistant")]
    facts = replace(NOTHING_KNOWN, sessions={"a": ("s", 2), "b": ("s", 2)}, opening={"a"})
    assert feature("opening", "pier", *all_, facts=facts) == [0.0, 0.0]


def test_what_was_remembered_counts_as_much_as_what_opens_a_session() -> None:
    told = said("told", remembered=True)
    talk = [said("a", role="user"), said("b", role="assistant")]
    facts = replace(NOTHING_KNOWN, sessions={"a": ("s", 36), "b": ("s", 36)}, opening={"a"})
    assert feature("opening", "pier", told, *talk, facts=facts) == [0.5, 0.5, 0.0]
    assert feature("opening", "pier", told, facts=facts) == [0.0], "no chat, so nothing to equal"


def test_notes_keep_their_places_among_messages_of_which_some_open_a_session() -> None:
    talk = [said("a", role="user"), said("b", role="assistant")]
    facts = replace(NOTHING_KNOWN, sessions={"a": ("s", 2), "b": ("s", 2)}, opening={"a"})
    assert feature("opening", "pier", *talk, said("note"), facts=facts) == [1.0, 0.0, 0.5]


SUMS = st.lists(st.floats(-50, 50), min_size=6, max_size=6)


@given(SUMS, st.lists(st.sampled_from(["s", "t", ""]), min_size=6, max_size=6))
def test_no_message_falls_by_its_session(given_sums: list[float], names: list[str]) -> None:
    sums = np.array(given_sums)
    sessions = {id_: (name, 9) for id_, name in zip("abcdef", names, strict=True) if name}
    assert (with_session(sums, sums, "abcdef", sessions) >= sums).all()


@given(SUMS)
def test_without_sessions_the_sums_stay_to_the_last_bit(given_sums: list[float]) -> None:
    sums = np.array(given_sums)
    assert with_session(sums, sums, "abcdef", {}).tolist() == given_sums
    assert with_session(sums, sums, "abcdef", {"a": ("s", 9)}).tolist() == given_sums


def test_a_ranking_says_what_a_message_got_from_which_session() -> None:
    all_ = [candidate("a", "the ferry pier"), candidate("b", "rope, oil"), candidate("c", "tide")]
    facts = replace(NOTHING_KNOWN, sessions=of_session("a", "b"))
    ranked = rank_by_relevance("ferry", all_, facts, RelevanceConfig(weights={"bm25": 4.0}))
    assert [entry.id for entry in ranked] == ["a", "b", "c"]
    assert [entry.session for entry in ranked] == [("s", 4), ("s", 4), None]
    a, b, c = (entry.shares["in_session"] for entry in ranked)
    # The sums by words are 4, 0 and 0.
    assert a == pytest.approx(math.log(1 + 0.1 * math.exp(-4)))
    assert b == pytest.approx(math.log(1 + 0.1 * math.exp(4)))
    assert c == 0.0
    assert ranked[1].features["in_session"] == pytest.approx(1 - 1 / (1 + 0.1 * math.exp(4)))


# --- replies ----------------------------------------------------------------------------------


def asked_and_answered(query: str, *, by: str = "assistant") -> list[RankedMemory]:
    """Rank a question of the user, and the next message, which has no word of the query."""
    all_ = [said("a", "pier", role="user"), said("b", "rope", role=by), said("c", role="tool")]
    facts = linked(("a", "b", 1.0))
    facts = replace(facts, adjacent={"a": ["b"], "b": ["a"]}, sessions=of_session("a", "b"))
    return [*rank_by_relevance(query, all_, facts, RelevanceConfig(weights={"bm25": 4.0}))]


def test_a_reply_is_at_least_as_likely_as_what_it_replies_to() -> None:
    first = asked_and_answered("Which pier did you recommend?")[0]
    assert first.id == "b"
    assert first.shares["reply"] > 0


@pytest.mark.parametrize(
    ("query", "by"),
    [("Which pier do I like?", "assistant"), ("Which pier did you recommend?", "user")],
)
def test_nothing_else_gets_the_odds_of_the_message_before(query: str, by: str) -> None:
    first = asked_and_answered(query, by=by)[0]
    assert first.id != "b"
    assert "reply" not in first.shares


# --- texts outside conversations --------------------------------------------------------------


@given(st.lists(texts, min_size=1, max_size=8), st.sampled_from(["rain", "What did you say?"]))
def test_texts_that_nobody_said_rank_as_if_nothing_were_known_of_talk(
    found: list[list[str]], query: str
) -> None:
    names = [f"m{n}" for n in range(len(found))]
    all_ = [candidate(name, " ".join(words)) for name, words in zip(names, found, strict=True)]
    edges = [(names[0], name, 0.5) for name in names[1:]]
    facts = linked(*edges, cosines={"m0": 0.5, "m1": 0.4}, degrees=dict.fromkeys(names, 3))
    values = features(query, all_, facts)
    assert not any(values[name].any() for name in TALK)
    weights = RelevanceConfig.default()
    without = replace(weights, weights={**weights.weights, **dict.fromkeys(TALK, 0.0)})
    ranked = rank_by_relevance(query, all_, facts, weights)
    assert not any("in_session" in entry.shares for entry in ranked)
    assert [(entry.id, entry.score, entry.relevance) for entry in ranked] == [
        (entry.id, entry.score, entry.relevance)
        for entry in rank_by_relevance(query, all_, facts, without)
    ]
