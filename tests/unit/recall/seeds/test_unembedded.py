"""Memories without an embedding as candidates, without a database: what a search makes of them."""

from __future__ import annotations

from typing import Any

import pytest

from memoria.errors import QueryError
from memoria.recall.seeds import SeedRequest
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.seeds.unembedded import SCORE, with_unembedded
from memoria.types import MemoryFilter, Seed, Seeds
from memoria.types.validity import Validity

WHERE = MemoryFilter(kinds=["Event"])
FOUND = Seeds(
    seeds=(Seed(id="a", score=1.0),),
    runners_up=(Seed(id="b", score=0.4), Seed(id="c", score=0.3)),
    degraded=("before",),
)


class Answering:
    """A store that gives one answer, or fails."""

    def __init__(self, answer: list[Any] | Exception) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    async def run(self, query: Any, parameters: Any, *, until: float | None) -> list[Any]:
        self.asked.append((query.name, parameters, until))
        if isinstance(self.answer, Exception):
            raise self.answer
        return [{"ids": self.answer}]


async def asked(answer: list[Any] | Exception, limit: int = 5) -> tuple[Seeds, Answering]:
    store: Any = Answering(answer)
    request = SeedRequest(
        text="",
        vector=None,
        scope="s",
        where=WHERE,
        dialect="search",
        config=SeedConfig(unembedded=limit),
        until=9.0,
        validity=Validity(),
    )
    found = await with_unembedded(store, FOUND, request)
    return found, store


async def test_hit_of_the_words_keeps_its_score_and_the_others_have_the_least() -> None:
    found, store = await asked(["n", "c", "a", "m"])
    assert [(seed.id, seed.score) for seed in found.seeds] == [
        *(("a", 1.0), ("c", 0.3), ("m", SCORE), ("n", SCORE)),
    ]
    assert [hit.id for hit in found.runners_up] == ["b"]
    assert found.degraded == ("before",)
    parameters = {**WHERE.parameters, "held": Validity().held, "limit": 6, "scope": "s"}
    assert store.asked == [("seeds.unembedded", parameters, 9.0)]


async def test_more_than_are_taken_are_spoken_of() -> None:
    found, _ = await asked(["x", "y", "z"], limit=2)
    assert [seed.id for seed in found.seeds] == ["a", "x", "y"]
    assert "more than 2 memories have no embedding" in found.degraded[-1]
    assert "backfill_embeddings" in found.degraded[-1]


async def test_none_wanted_asks_nothing() -> None:
    found, store = await asked(["x"], limit=0)
    assert found is FOUND
    assert store.asked == []


@pytest.mark.parametrize("wrong", [7, "", None, "x" * 513])
async def test_memory_without_a_usable_id_is_passed_over(wrong: Any) -> None:
    found, _ = await asked([wrong, "x"])
    assert [seed.id for seed in found.seeds] == ["a", "x"]


async def test_failure_leaves_the_search_as_it_is_and_says_so() -> None:
    found, _ = await asked(QueryError("no such thing"))
    assert (found.seeds, found.runners_up) == (FOUND.seeds, FOUND.runners_up)
    assert found.degraded == (
        "before",
        "memories without an embedding could not be read (no such thing)",
    )
