"""The estimate of tokens, compared with the counts of a real tokenizer.

The counts are in ``tests/data/tokens.jsonl``; ``scripts/count_tokens.py`` made them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoria.recall.context import estimate_tokens
from memoria.recall.context.tokens import _counts_of_line, _pieces, least_tokens
from tests.for_each import for_each

FILE = Path(__file__).parents[3] / "data" / "tokens.jsonl"
SAMPLES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


@for_each("sample", SAMPLES)
def test_the_estimate_is_within_a_tenth(sample: dict[str, Any]) -> None:
    assert estimate_tokens(sample["text"]) == pytest.approx(sample["o200k_base"], rel=0.1)


def test_there_are_four_samples_of_each_language() -> None:
    languages = [one["language"] for one in SAMPLES]
    assert {name: languages.count(name) for name in languages} == {
        "English": 4,
        "German": 4,
        "code": 4,
        "Japanese": 4,
    }


def test_nothing_has_no_tokens_and_a_word_has_one() -> None:
    assert [estimate_tokens(text) for text in ("", "tea", "\ud800")] == [0, 1, 2]


@given(st.text())
def test_an_estimate_is_bounded_by_the_length(one: str) -> None:
    assert 0 <= estimate_tokens(one) <= 4 * len(one) + 1


@given(
    st.one_of(st.text(), st.text(alphabet="aB1 \n_-.…(é東あア\u0301")),
    st.integers(min_value=1, max_value=60),
    st.integers(min_value=0, max_value=100),
)
@example(" -abcdefgh -a", 1, 2)  # the beginning ends between a mark and its letter
@example("the understanding ", 10, 24)  # the long words cost little, as they are English
def test_the_beginning_of_a_text_never_promises_too_many_tokens(
    one: str, times: int, most: int
) -> None:
    text = one * times
    (least, is_exact), whole = least_tokens(text, most), estimate_tokens(text)
    assert least <= whole
    assert least == whole or not is_exact
    assert (least > most) == (whole > most)


@given(st.lists(st.sampled_from(["[12]", "] ", " ", "\n", "5", "a", "Aé.", "\r", "\u2028", "|"])))
def test_counts_of_the_pieces_of_a_text_add_up(parts: list[str]) -> None:
    text = "".join(parts)
    assert sum(map(_counts_of_line, _pieces(text))) == _counts_of_line(text)


def test_of_a_long_text_only_the_beginning_is_counted() -> None:
    text = SAMPLES[0]["text"] * 100
    least, is_exact = least_tokens(text, 50)
    assert 50 < least < 200 < estimate_tokens(text)
    assert not is_exact
