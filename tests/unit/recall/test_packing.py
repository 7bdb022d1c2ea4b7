"""What enters the context of a recall: the floor of relevance, and what is said below it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoria.recall.config import RetrieverConfig
from memoria.recall.context.config import ContextConfig
from memoria.recall.packing import notes_of, relevance_of, worth_of
from memoria.recall.ranking import NOTHING_KNOWN
from memoria.recall.texts import Completed
from memoria.types import MemoryNode, Path, RankedMemory

CONFIG = RetrieverConfig(context=ContextConfig(min_relevance=0.1, min_best_relevance=0.1))


def entry(name: str, relevance: float | None) -> RankedMemory:
    node = MemoryNode(id=name, kind="Event", text=name)
    path = Path(seed_id=name, hops=(), memories=(node,), end_reason="dead_end", energy=0.5)
    return RankedMemory(memory=node, score=1.0, path=path, relevance=relevance)


def test_relevance_is_that_of_the_memories_of_which_it_is_known() -> None:
    assert relevance_of([entry("a", 0.5), entry("b", 0.0), entry("c", None)]) == {"a": 0.5, "b": 0}


def test_the_note_says_that_nothing_is_relevant() -> None:
    ranked = [entry("a", 0.0234), entry("b", 0.001)]
    assert notes_of(ranked, CONFIG) == (
        "nothing is relevant: the best of 2 memories has 0.0234, below min_relevance 0.1",
    )
    assert notes_of(ranked[:1], CONFIG) == (
        "nothing is relevant: the best of 1 memory has 0.0234, below min_relevance 0.1",
    )


def test_the_note_says_that_little_is_relevant() -> None:
    assert notes_of([entry("a", 0.123), entry("b", 0.001)], CONFIG) == (
        "the best of 2 memories has a relevance of 0.12: they may not answer the question",
    )


@pytest.mark.parametrize("found", [[], [0.3], [0.9, 0.05], [None], [0.05, None]])
def test_no_note_where_something_may_enter_or_nothing_was_found(found: list[float | None]) -> None:
    assert notes_of([entry(f"m{n}", each) for n, each in enumerate(found)], CONFIG) == ()


def test_the_note_names_the_limit_that_counts() -> None:
    config = RetrieverConfig(context=ContextConfig(min_relevance=0.01, min_best_relevance=0.2))
    assert notes_of([entry("a", 0.15)], config) == (
        "nothing is relevant: the best of 1 memory has 0.15, below min_best_relevance 0.2",
    )


def test_limits_of_zero_let_everything_in() -> None:
    config = replace(CONFIG, context=ContextConfig(min_relevance=0.0, min_best_relevance=0.0))
    assert notes_of([entry("a", 0.0)], config) == (
        "the best of 1 memory has a relevance of 0: they may not answer the question",
    )


def test_parts_of_the_best_document_come_before_strangers_that_hardly_match() -> None:
    nothing = Completed(explorations=(), hits=(), needed=(), facts=NOTHING_KNOWN)

    def worth(metadata: dict[str, str]) -> dict[str, float]:
        scores = {"faq.md#Discounts": 1.0, "stranger": 0.15, "faq.md": 0.01, "other.md#x": 0.4}
        ranked = [
            replace(one, score=score, memory=replace(one.memory, metadata=metadata))
            for name, score in scores.items()
            for one in [entry(name, None)]
        ]
        return worth_of(nothing, ranked, CONFIG)

    assert worth({"title": "FAQ"}) == {
        "faq.md#Discounts": 1.0,
        "stranger": 0.15,
        "faq.md": 0.2,
        "other.md#x": 0.4,
    }
    assert worth({})["faq.md"] == 0.01  # not a document: any id may contain "#"
