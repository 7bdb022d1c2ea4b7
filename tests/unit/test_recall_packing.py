"""What enters the context of a recall: the floor of relevance, and what is said below it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoria.config import RetrieverConfig
from memoria.context.config import ContextConfig
from memoria.errors import ConfigError
from memoria.recall.packing import irrelevant_of, note_of
from memoria.types import MemoryNode, Path, RankedMemory

CONFIG = RetrieverConfig(context=ContextConfig(min_relevance=0.1))


def entry(name: str, relevance: float | None) -> RankedMemory:
    node = MemoryNode(id=name, kind="Event", text=name)
    path = Path(seed_id=name, hops=(), memories=(node,), end_reason="dead_end", energy=0.5)
    return RankedMemory(memory=node, score=1.0, path=path, relevance=relevance)


def test_only_what_lies_below_the_floor_is_irrelevant() -> None:
    ranked = [entry("above", 0.11), entry("at", 0.1), entry("below", 0.09), entry("unknown", None)]
    assert irrelevant_of(ranked, CONFIG) == {"below"}
    assert note_of(ranked, CONFIG) is None


def test_a_floor_of_zero_lets_everything_in() -> None:
    config = replace(CONFIG, context=ContextConfig(min_relevance=0.0))
    assert irrelevant_of([entry("a", 0.0)], config) == frozenset()


def test_the_note_says_that_nothing_is_relevant() -> None:
    ranked = [entry("a", 0.0234), entry("b", 0.001)]
    assert note_of(ranked, CONFIG) == (
        "nothing is relevant: the best of 2 memories has 0.023, below min_relevance 0.1"
    )
    assert note_of(ranked[:1], CONFIG) == (
        "nothing is relevant: the best of 1 memory has 0.023, below min_relevance 0.1"
    )


def test_finding_nothing_and_not_knowing_make_no_note() -> None:
    assert note_of([], CONFIG) is None
    assert note_of([entry("a", None)], CONFIG) is None


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_a_floor_is_a_probability(value: float) -> None:
    with pytest.raises(ConfigError, match="min_relevance"):
        ContextConfig(min_relevance=value)
