"""Fusion of the two lists, by numbers worked out by hand."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.formulas.fusion import linear_fusion, reciprocal_rank_fusion, scaled
from memoria.recall.seeds.config import SeedConfig

ids = st.sampled_from("abcdefgh")
cosines = st.floats(-1, 1)
bm25 = st.floats(1e-6, 1e6)


def hits(scores: st.SearchStrategy[float]) -> st.SearchStrategy[list[tuple[str, float]]]:
    """A list as an index gives it: best first, ties by id, each id once."""
    return st.dictionaries(ids, scores).map(
        lambda found: sorted(found.items(), key=lambda hit: (-hit[1], hit[0]))
    )


def test_rrf_adds_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion([[("a", 0.9), ("b", 0.8)], [("b", 7.0), ("c", 1.0)]], k=60)
    assert fused == {"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62}
    assert scaled(fused) == [
        ("b", 1.0),
        ("a", pytest.approx((1 / 61) / (1 / 62 + 1 / 61), abs=1e-15)),
        ("c", pytest.approx((1 / 62) / (1 / 62 + 1 / 61), abs=1e-15)),
    ]
    assert scaled(fused)[1][1] == pytest.approx(62 / 123, abs=1e-15)


def test_rrf_looks_at_ranks_only() -> None:
    low = reciprocal_rank_fusion([[("a", 0.001), ("b", 0.0001)], []])
    high = reciprocal_rank_fusion([[("a", 1e9), ("b", 1.0)], []])
    assert low == high == {"a": 1 / 61, "b": 1 / 62}


def test_smaller_k_lets_the_first_ranks_count_more() -> None:
    lists = [[("a", 3.0), ("b", 2.0)]]
    assert dict(scaled(reciprocal_rank_fusion(lists, k=1)))["b"] == pytest.approx(2 / 3)
    assert dict(scaled(reciprocal_rank_fusion(lists, k=60)))["b"] == pytest.approx(61 / 62)


def test_linear_adds_the_shares_of_cosine_and_bm25() -> None:
    vector = [("a", 0.8), ("b", 0.4)]
    text = [("b", 6.0), ("c", 3.0)]
    fused = linear_fusion(vector, text, alpha=0.5)
    # a: 0.5 * 0.8; b: 0.5 * 0.4 + 0.5 * 6/6; c: 0.5 * 3/6
    assert fused == {
        "a": pytest.approx(0.4),
        "b": pytest.approx(0.7),
        "c": pytest.approx(0.25),
    }
    assert scaled(fused) == [
        ("b", 1.0),
        ("a", pytest.approx(4 / 7)),
        ("c", pytest.approx(2.5 / 7)),
    ]
    weighted = linear_fusion(vector, text, alpha=0.25)
    assert weighted["b"] == pytest.approx(0.25 * 0.4 + 0.75)


def test_linear_clamps_cosines_to_zero_and_one() -> None:
    fused = linear_fusion([("a", 1.0000001), ("b", -0.5)], [("b", 2.0)], alpha=0.5)
    assert fused == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize(("alpha", "order"), [(0.0, ["c", "b"]), (1.0, ["a", "b"])])
def test_alpha_at_its_ends_leaves_one_list(alpha: float, order: list[str]) -> None:
    SeedConfig(fusion="linear", alpha=alpha)
    vector = [("a", 0.9), ("b", 0.3)]
    text = [("c", 8.0), ("b", 2.0)]
    assert [node for node, _ in scaled(linear_fusion(vector, text, alpha=alpha))] == order


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_single_list_is_used_whatever_its_share(alpha: float) -> None:
    """A search that failed or found nothing leaves the other one, also with no share of its own."""
    words = scaled(linear_fusion([], [("a", 4.0), ("b", 1.0)], alpha=alpha))
    assert words == [("a", 1.0), ("b", pytest.approx(0.25))]
    vectors = scaled(linear_fusion([("a", 0.8), ("b", 0.2)], [], alpha=alpha))
    assert vectors == [("a", 1.0), ("b", pytest.approx(0.25))]


def test_equal_shares_of_both_lists_are_both_counted() -> None:
    """A rival joins its lists as sets, and a node with equal shares loses one of them."""
    fused = linear_fusion([("a", 1.0), ("b", 0.9)], [("a", 5.0)], alpha=0.5)
    assert fused == {"a": 1.0, "b": pytest.approx(0.45)}
    twice = reciprocal_rank_fusion([[("a", 1.0)], [("a", 1.0)]])
    assert twice == {"a": 2 / 61}


def test_nothing_found_fuses_to_nothing() -> None:
    assert scaled(reciprocal_rank_fusion([[], []])) == []
    assert scaled(linear_fusion([], [])) == []


def test_ties_are_in_the_order_of_ids() -> None:
    fused = reciprocal_rank_fusion([[("z", 1.0)], [("a", 1.0)]])
    assert scaled(fused) == [("a", 1.0), ("z", 1.0)]


@given(
    vector=hits(cosines),
    text=hits(bm25),
    k=st.floats(1e-3, 1e6),
    alpha=st.floats(0, 1),
    seed=st.integers(0, 5),
)
def test_scale_is_zero_to_one_with_the_best_exactly_one(
    vector: list[tuple[str, float]],
    text: list[tuple[str, float]],
    k: float,
    alpha: float,
    seed: int,
) -> None:
    for fused in (
        reciprocal_rank_fusion([vector, text], k=k),
        linear_fusion(vector, text, alpha=alpha),
    ):
        result = scaled(fused)
        assert all(0 < score <= 1 for _, score in result)
        assert not result or result[0][1] == 1.0
        assert result == sorted(result, key=lambda hit: (-hit[1], hit[0]))
        assert {node for node, _ in result} <= {node for node, _ in (*vector, *text)}
        shuffled = list(fused.items())
        random.Random(seed).shuffle(shuffled)
        assert scaled(dict(shuffled)) == result, "the order of arrival does not matter"


@given(vector=hits(cosines), text=hits(bm25))
def test_rrf_finds_everything_that_either_list_holds(
    vector: list[tuple[str, float]], text: list[tuple[str, float]]
) -> None:
    fused = reciprocal_rank_fusion([vector, text])
    assert set(fused) == {node for node, _ in (*vector, *text)}
    assert reciprocal_rank_fusion([text, vector]) == pytest.approx(fused, rel=1e-15)


@given(text=hits(bm25), factor=st.sampled_from([0.5, 2.0, 1024.0]))
def test_scale_of_bm25_does_not_matter(text: list[tuple[str, float]], factor: float) -> None:
    larger = [(node, score * factor) for node, score in text]
    assert scaled(linear_fusion([], larger)) == scaled(linear_fusion([], text))
