"""Whether a question is about the present, the past, or how something changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.recall.when import tense_of

CASES = Path(__file__).parent.parent / "cases" / "tense.txt"
LINES = [line.split(maxsplit=1) for line in CASES.read_text("utf-8").splitlines() if line[0] != "#"]


@pytest.mark.parametrize(("tense", "question"), LINES, ids=[line[1] for line in LINES])
def test_the_tense_of_a_question_in_eight_languages(tense: str, question: str) -> None:
    assert tense_of(question) == (None if tense == "-" else tense)


@given(st.text(max_size=400))
def test_any_text_has_a_tense_or_none(text: str) -> None:
    assert tense_of(text) in ("present", "past", "course", None)


def test_a_long_text_has_no_tense() -> None:
    assert tense_of(f"Where do I live {'and ' * 100}now?") is None
