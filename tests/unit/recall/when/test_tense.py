"""Whether a question is about the present, the past, or how something changed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.recall.at_time import when_for
from memoria.recall.call import RecallCall
from memoria.recall.config import RetrieverConfig
from memoria.recall.when import tense_of
from memoria.types import MemoryFilter
from tests.for_each import for_each

CASES = Path(__file__).parents[3] / "cases" / "tense.txt"
LINES = [line.split(maxsplit=1) for line in CASES.read_text("utf-8").splitlines() if line[0] != "#"]


@for_each("tense, question", LINES)
def test_the_tense_of_a_question_in_eight_languages(tense: str, question: str) -> None:
    assert tense_of(question) == (None if tense == "-" else tense)


@given(st.text(max_size=400))
def test_any_text_has_a_tense_or_none(text: str) -> None:
    assert tense_of(text) in ("present", "past", "course", None)


@pytest.mark.parametrize(
    ("question", "tense", "only"),
    [
        ("Where do I live today?", "present", False),
        ("Wo wohne ich heute?", "present", False),
        ("What meetings do I have today?", "present", False),
        ("What is new today?", "present", False),
        ("How has my rent changed this year?", "course", False),
        ("What did I do today?", None, True),
        ("What is on my list this week?", None, True),
        ("Where will I live in December?", "present", False),
        ("What will happen in December?", None, True),
        ("Where do I live in December?", None, False),
    ],
)
def test_some_questions_only_prefer_their_time_and_have_a_tense(
    question: str, tense: str | None, only: bool
) -> None:
    now = datetime(2026, 5, 20, 14, 30, tzinfo=UTC)
    call = RecallCall.checked(question, (), MemoryFilter(), RetrieverConfig())
    when = when_for(call, now)
    assert when.window is not None
    assert (when.tense, when.window.only) == (tense, only)


def test_the_setting_for_time_phrases_switches_the_tense_off() -> None:
    off = RetrieverConfig(time_phrases=False)
    for config, tense in ((RetrieverConfig(), "present"), (off, None)):
        call = RecallCall.checked("Where do I live?", (), MemoryFilter(), config)
        assert when_for(call, datetime.now(UTC)).tense == tense


def test_a_long_text_has_no_tense() -> None:
    assert tense_of(f"Where do I live {'and ' * 100}now?") is None
