"""What is known of a memory's past: how far it moves it, and that it does so for like questions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria._support.stems import query_terms
from memoria.errors import ConfigError
from memoria.recall.ranking import NOTHING_KNOWN, Candidate, Facts, rank_by_relevance
from memoria.recall.ranking.candidates import Past
from memoria.recall.ranking.config import RelevanceConfig
from memoria.recall.ranking.history import FEATURES, HistoryConfig, history_features, shared_words
from memoria.types import MemoryNode, Path, RankedMemory

QUESTION = "Why did the cellar pump stop?"
LIKE_IT = "When did the pump in the cellar stop?"
NAMES = "abcde"
WHEN = datetime(2026, 3, 1, tzinfo=UTC)


def candidate(name: str, text: str = "the pump", **fields: Any) -> Candidate:
    memory = MemoryNode(id=name, kind="Event", text=text, **fields)
    path = Path(seed_id=name, hops=(), memories=(memory,), end_reason="dead_end", energy=0.5)
    return Candidate(memory=memory, path=path)


def facts(**past: Past) -> Facts:
    return Facts(cosines={}, degrees={}, neighbours={}, past=past)


def ranked(*candidates: Candidate, known: Facts, **settings: Any) -> tuple[RankedMemory, ...]:
    return rank_by_relevance(
        QUESTION, candidates, known, RelevanceConfig.default(), HistoryConfig(**settings)
    )


def order(found: tuple[RankedMemory, ...]) -> str:
    return "".join(entry.memory.id for entry in found)


def test_without_a_past_nothing_changes_to_the_last_bit() -> None:
    candidates = [
        candidate(name, f"{name} pump" * number, created_at=WHEN)
        for number, name in enumerate(NAMES)
    ]
    known = facts(a=Past(), b=Past(age_hours=5.0))
    plain = rank_by_relevance(QUESTION, candidates, known, RelevanceConfig.default())
    assert repr(ranked(*candidates, known=known)) == repr(plain)
    assert repr(ranked(*candidates, known=NOTHING_KNOWN)) == repr(plain)


def test_an_earlier_question_falls_by_the_words_that_it_shares_with_this_one() -> None:
    candidates = [
        candidate("a", LIKE_IT),
        candidate("b", LIKE_IT),
        candidate("c", "Who likes tea?"),
    ]
    for each in candidates[1:]:
        each.loose = True
    found = history_features(QUESTION, candidates, {}, least_shared=0.25)
    alike = shared_words(frozenset(query_terms(QUESTION)), frozenset(query_terms(LIKE_IT)))
    assert alike > 0.5
    assert found["asked"].tolist() == [0.0, -alike, 0.0]
    entry = next(e for e in ranked(*candidates, known=NOTHING_KNOWN) if e.memory.id == "b")
    assert entry.shares["asked"] == -8.0 * alike


def test_memory_rises_for_a_question_like_the_one_that_it_proved_right_for() -> None:
    candidates = [candidate(name) for name in NAMES]
    right = facts(e=Past(right_for=(LIKE_IT,), confirmed=1, uses=1, age_hours=1.0))
    assert order(ranked(*candidates, known=right)) == "eabcd"
    other = facts(e=Past(right_for=("What does Ada prefer?",)))
    assert order(ranked(*candidates, known=other)) == "abcde"
    wrong = facts(a=Past(wrong_for=("Who bakes?", LIKE_IT), overridden=1))
    assert order(ranked(*candidates, known=wrong)) == "bcdea"
    both = facts(e=Past(wrong_for=(LIKE_IT,), right_for=(LIKE_IT,)))
    assert order(ranked(*candidates, known=both)) == "abcde"


def test_features_by_hand() -> None:
    """Three words in common of four; the base level of a use an hour ago is 0.845."""
    past = {
        "a": Past(right_for=("Did the cellar pump stop twice?",), confirmed=3, overridden=1),
        "b": Past(uses=1, age_hours=1.0, overridden=2),
        "c": Past(uses=1),
    }
    candidates = [candidate("a"), candidate("b", priority=0.75), candidate("c"), candidate("d")]
    found = history_features(QUESTION, candidates, past, least_shared=0.25)
    assert {name: column.tolist() for name, column in found.items()} == {
        "question_feedback": [pytest.approx((3 / 4 - 0.25) / 0.75), 0, 0, 0],
        "feedback": [pytest.approx(2 / 6), -0.5, 0, 0],
        "uses": [0, pytest.approx(0.845, abs=1e-3), 0.5, 0],
        "priority": [0, 0.5, 0, 0],
    }


def test_shares_name_what_the_past_did() -> None:
    found = ranked(
        candidate("a"),
        candidate("b"),
        known=facts(b=Past(right_for=(QUESTION,))),
        question_feedback=3.0,
    )
    assert order(found) == "ba"
    assert found[0].features["question_feedback"] == 1.0
    assert found[0].shares["question_feedback"] == 3.0
    assert found[1].shares["question_feedback"] == 0.0
    assert "feedback" not in found[0].shares


counts = st.integers(0, 10**6)
pasts = st.builds(
    Past,
    uses=counts,
    age_hours=st.none() | st.floats(-1e6, 1e9),
    confirmed=counts,
    overridden=counts,
    right_for=st.lists(st.sampled_from([QUESTION, LIKE_IT, "", "x", "?"]), max_size=3),
    wrong_for=st.lists(st.sampled_from([QUESTION, LIKE_IT, "", "x", "?"]), max_size=3),
)


@given(st.dictionaries(st.sampled_from(NAMES), pasts), st.none() | st.floats(0, 1))
def test_past_moves_a_memory_by_a_bounded_amount(
    past: dict[str, Past], priority: float | None
) -> None:
    candidates = [candidate(name, priority=priority) for name in NAMES]
    found = history_features(QUESTION, candidates, past, least_shared=0.25)
    assert set(found) <= set(FEATURES)
    for column in found.values():
        assert (abs(column) <= 1).all()


@pytest.mark.parametrize(
    "wrong",
    [{"question_feedback": -1.0}, {"priority": 21.0}, {"least_shared": 1.0}, {"uses": "much"}],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        HistoryConfig(**wrong)


def test_shared_words_of_no_words_are_none() -> None:
    assert shared_words(frozenset(), frozenset()) == 0.0
    assert shared_words(frozenset("a"), frozenset()) == 0.0
