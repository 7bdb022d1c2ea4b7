"""The cache of recent queries: what is kept, for how long, and what is not."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Sequence

import pytest

from memoria.embed import CachedEmbedder, CallableEmbedder, Embedder
from memoria.embed.cached import MAX_CHARACTERS
from memoria.errors import ConfigError, DimensionError, InvalidInputError


class Counted:
    """An embedder that counts how often it embeds each text."""

    name = "counted"
    dimensions = 2

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.vector = [0.5, 1.0]

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.update(texts)
        return [self.vector for _ in texts]

    async def embed_query(self, text: str) -> list[float]:
        self.asked[text] += 1
        await asyncio.sleep(0)
        return self.vector


async def test_the_same_query_is_embedded_once() -> None:
    inner = Counted()
    embedder = CachedEmbedder(inner)
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dimensions) == ("counted", 2)
    assert [await embedder.embed_query("a") for _ in range(3)] == [[0.5, 1.0]] * 3
    assert inner.asked == {"a": 1}


async def test_the_query_not_used_for_longest_goes_first() -> None:
    inner = Counted()
    embedder = CachedEmbedder(inner, max_queries=2)
    for text in ("a", "b", "a", "c", "a", "b"):  # c drives out b, b then c
        await embedder.embed_query(text)
    assert inner.asked == {"a": 1, "b": 2, "c": 1}


async def test_a_callers_change_of_its_vector_is_its_own() -> None:
    embedder = CachedEmbedder(Counted())
    first = await embedder.embed_query("a")
    first[0] = 7.0
    second = await embedder.embed_query("a")
    second[0] = 8.0
    assert await embedder.embed_query("a") == [0.5, 1.0]


async def test_documents_are_neither_kept_nor_answered_from_queries() -> None:
    inner = Counted()
    embedder = CachedEmbedder(inner)
    await embedder.embed_query("a")
    for _ in range(2):
        assert await embedder.embed_documents(["a", "b"]) == [[0.5, 1.0]] * 2
    await embedder.embed_query("b")
    assert inner.asked == {"a": 3, "b": 3}


async def test_a_long_query_is_not_kept() -> None:
    inner = Counted()
    embedder = CachedEmbedder(inner)
    for text in 2 * ("x" * MAX_CHARACTERS, "x" * (MAX_CHARACTERS + 1)):
        await embedder.embed_query(text)
    assert sorted(inner.asked.values()) == [1, 2]


async def test_what_is_no_vector_is_refused_each_time_and_not_kept() -> None:
    inner = Counted()
    embedder = CachedEmbedder(inner)
    inner.vector = [1.0]
    for _ in range(2):
        with pytest.raises(DimensionError):
            await embedder.embed_query("a")
    inner.vector = [1.0, 0.0]
    assert await embedder.embed_query("a") == [1.0, 0.0]


async def test_errors_pass_unchanged_and_are_not_kept() -> None:
    failures = iter([OSError("no network")])

    async def embed(texts: list[str]) -> list[list[float]]:
        for error in failures:
            raise error
        return [[1.0, 0.0] for _ in texts]

    embedder = CachedEmbedder(CallableEmbedder(embed, dimensions=2, name="fails once"))
    with pytest.raises(OSError, match="no network"):
        await embedder.embed_query("a")
    assert await embedder.embed_query("a") == [1.0, 0.0]
    for wrong in ("", 7, ["a"]):
        with pytest.raises(InvalidInputError):
            await embedder.embed_query(wrong)  # type: ignore[arg-type]


async def test_a_cancelled_caller_leaves_the_others_their_vectors() -> None:
    embedder = CachedEmbedder(Counted())
    tasks = [asyncio.create_task(embedder.embed_query("a")) for _ in range(3)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    assert await asyncio.gather(*tasks[1:]) == [[0.5, 1.0]] * 2


def test_several_threads_with_loops_of_their_own_share_one_cache() -> None:
    embedder = CachedEmbedder(Counted(), max_queries=3)
    answers: list[object] = []

    async def ask() -> None:
        answers.extend([await embedder.embed_query(f"q{number % 5}") for number in range(2_000)])

    threads = [threading.Thread(target=asyncio.run, args=(ask(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [[0.5, 1.0]] * 8_000
    assert len(embedder._vectors) == 3


@pytest.mark.parametrize("size", [0, -1, 1.5, True, 1_000_000])
def test_a_size_out_of_range_is_refused(size: object) -> None:
    with pytest.raises(ConfigError, match="max_queries"):
        CachedEmbedder(Counted(), max_queries=size)  # type: ignore[arg-type]
