"""How close a message is to small talk: the examples, their vectors, embedders that fail."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memoria.embed import DEFAULT_ONNX_MODEL, CallableEmbedder
from memoria.errors import InvalidInputError
from memoria.recall.asides import LEANING_VECTORS, VECTORS, Asides, examples, leaning, spread
from memoria.recall.examples import KeptVectors, unit_vectors
from memoria.recall.ranking import DEFAULT_SPREAD, Likeness

# Calls that embed all examples, in batches of 64.
CALLS = -(-len(examples()) // 64) - (-len(leaning()) // 64)
# All examples have the same vector, so their spread is the least there is.
NEARLY_HALF: Any = pytest.approx(0.5, abs=1e-3)
ABOUT_HALF: Any = pytest.approx(0.5, abs=0.01)
HALF = Likeness(aside=NEARLY_HALF, leaning=NEARLY_HALF, spread=0.01, unrelated=ABOUT_HALF)
MISSING = "examples of small talk are not embedded ({}): no relevance is known"


class Counting:
    """Puts the message "ok" at 60 degrees from all examples, which it embeds in one call."""

    dimensions = 2

    def __init__(self, *, name: str = "counting", wait_s: float = 0.0, fails: bool = False) -> None:
        self.name, self.wait_s, self.fails, self.calls = name, wait_s, fails, 0

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.calls += 1
        await asyncio.sleep(self.wait_s)
        if self.fails:
            raise ConnectionError("gone")
        return [(0.5, 0.75**0.5)] * len(texts)

    async def embed_query(self, text: str) -> Sequence[float]:
        raise AssertionError(text)


def test_examples_are_distinct_and_each_has_a_vector() -> None:
    texts = (*examples(), *leaning())
    assert len({*texts}) == len(texts) > 800
    assert all(text == text.strip() != "" for text in texts)
    assert np.load(VECTORS).shape == (len(examples()), 384)
    assert np.load(LEANING_VECTORS).shape == (len(leaning()), 384)


def test_the_usual_spread_is_that_of_the_default_embedder() -> None:
    vectors = unit_vectors(np.load(VECTORS).astype(np.float64))
    assert spread(vectors) == pytest.approx(DEFAULT_SPREAD, abs=1e-9)
    like = Likeness(aside=0.0, leaning=0.0, spread=DEFAULT_SPREAD / 2, unrelated=0.0)
    assert like.on_default_scale(1.0) == 1.0
    assert like.on_default_scale(0.7) == pytest.approx(0.4)


async def likeness(asides: Asides, *, within_s: float = 5.0) -> tuple[Likeness | None, list[str]]:
    notes: list[str] = []
    until = asyncio.get_running_loop().time() + within_s
    return await asides.likeness((1.0, 0.0), until=until, notes=notes), notes


async def test_examples_are_embedded_once_for_all_recalls(tmp_path: Path) -> None:
    embedder = Counting(wait_s=0.01)
    asides = Asides(embedder, tmp_path)
    found = await asyncio.gather(*(likeness(asides) for _ in range(5)))
    assert found == [(HALF, [])] * 5
    assert embedder.calls == CALLS


async def test_default_embedder_has_its_vectors_already(tmp_path: Path) -> None:
    embedder = Counting(name=DEFAULT_ONNX_MODEL)
    embedder.dimensions = 384
    asides, until = Asides(embedder, tmp_path), asyncio.get_running_loop().time() + 60.0
    assert await asides.likeness(np.load(VECTORS)[0], until=until, notes=[]) is not None
    assert embedder.calls == 0
    embedder.dimensions = 2  # another embedder of that name
    assert await likeness(Asides(embedder, tmp_path)) == (HALF, [])


async def test_all_retrievers_share_the_vectors_of_the_package(tmp_path: Path) -> None:
    """An application may have a retriever for each of its users: 8 MB each would add up."""
    embedder = Counting(name=DEFAULT_ONNX_MODEL)
    embedder.dimensions = 384
    one = await Asides(embedder, tmp_path).examples.vectors()
    assert one is not None
    assert not one.flags.writeable
    assert await Asides(embedder, tmp_path).examples.vectors() is one


class Gated(Counting):
    """Embeds nothing before its gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        await self.gate.wait()
        return await super().embed_documents(texts)


async def test_one_recall_alone_waits_for_an_embedder_slower_than_recalls(tmp_path: Path) -> None:
    embedder, late = Gated(), (None, [MISSING.format("it takes long")])
    asides = Asides(embedder, tmp_path)
    assert not asides.were_late
    assert await likeness(asides, within_s=0.05) == late
    async with asyncio.timeout(30):  # less than one of them would wait
        assert [await likeness(asides, within_s=60.0) for _ in range(3)] == [late] * 3
    embedder.gate.set()
    async with asyncio.timeout(60):
        # Small talk is there first, then requests; nothing tells of it.
        while (found := await likeness(asides))[0] is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert found == (HALF, [])
    assert asides.were_late  # so no question waits for the examples of facts
    assert embedder.calls == CALLS


async def test_an_embedder_that_fails_is_left_alone_for_a_while(tmp_path: Path) -> None:
    embedder = Counting(fails=True)
    asides = Asides(embedder, tmp_path)
    found = [await likeness(asides) for _ in range(5)]
    assert found == [(None, [MISSING.format("ConnectionError")])] * 5
    assert embedder.calls == 1


async def test_an_example_without_a_vector_is_near_to_nothing(tmp_path: Path) -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        return [[0.0, 0.0] if text in ("?", "...") else [0.5, 0.75**0.5] for text in texts]

    asides = Asides(CallableEmbedder(embed, dimensions=2, name="words"), tmp_path)
    assert await likeness(asides) == (HALF, [])


async def test_a_note_names_the_examples_without_vectors(tmp_path: Path) -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        if {*texts} & {*leaning()}:
            raise ConnectionError("gone")
        return [[0.5, 0.75**0.5] for _ in texts]

    found, [note] = await likeness(
        Asides(CallableEmbedder(embed, dimensions=2, name="words"), tmp_path)
    )
    assert found is None
    assert note.startswith("examples of requests are not embedded")


def modes(folder: Path) -> Counter[int]:
    """Return how many of a folder and its files have which permissions."""
    return Counter(file.stat().st_mode & 0o777 for file in (folder, *folder.iterdir()))


async def test_vectors_are_kept_for_the_next_process(tmp_path: Path) -> None:
    folder, embedder = tmp_path / "home" / "examples", Counting()
    assert await likeness(Asides(embedder, folder)) == (HALF, [])
    assert embedder.calls == CALLS
    assert modes(folder) == Counter({0o700: 1, 0o600: CALLS})

    again = Counting()
    assert await likeness(Asides(again, folder)) == (HALF, [])
    assert again.calls == 1  # three texts: do they still have their kept vectors?

    other = Counting(name="other")
    assert await likeness(Asides(other, folder)) == (HALF, [])
    assert other.calls == CALLS


class Another(Counting):
    """Another model with the same name."""

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.calls += 1
        return [(0.75**0.5, -0.5)] * len(texts)


async def test_vectors_of_another_model_with_the_same_name_are_replaced(tmp_path: Path) -> None:
    assert await likeness(Asides(Counting(), tmp_path)) == (HALF, [])
    for expected in (CALLS + 1, 1):
        embedder = Another()
        found, _ = await likeness(Asides(embedder, tmp_path))
        assert found is not None
        assert found.aside == pytest.approx(0.75**0.5, abs=1e-3)
        assert embedder.calls == expected


async def test_a_model_may_give_a_text_alone_a_slightly_different_vector(tmp_path: Path) -> None:
    class Batching(Counting):
        async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
            self.calls += 1
            return [(0.5, 0.75**0.5) if len(texts) > 3 else (0.7, 0.51**0.5)] * len(texts)

    for expected in (CALLS, 1):
        embedder = Batching()
        assert await likeness(Asides(embedder, tmp_path)) == (HALF, [])
        assert embedder.calls == expected


async def test_a_process_that_ends_early_leaves_the_rest_to_the_next_one(tmp_path: Path) -> None:
    class Ending(Counting):
        async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
            if self.calls == 3:
                raise ConnectionError("gone")
            return await super().embed_documents(texts)

    failed = (None, [MISSING.format("ConnectionError")])
    assert await likeness(Asides(Ending(), tmp_path)) == failed
    embedder = Counting()
    assert await likeness(Asides(embedder, tmp_path)) == (HALF, [])
    assert embedder.calls == 1 + CALLS - 3


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "torn": lambda content: content[:-1],
    "zeros": lambda content: bytes(len(content)),
    "noise": lambda content: b"{" * len(content),
}


@pytest.mark.parametrize("damage", [*DAMAGES])
@pytest.mark.parametrize("first", [True, False])
async def test_a_damaged_file_is_made_again(tmp_path: Path, damage: str, first: bool) -> None:
    assert await likeness(Asides(Counting(), tmp_path)) == (HALF, [])
    batch = examples()[:64] if first else examples()[64:128]
    file = KeptVectors(Counting(), tmp_path).file(*batch)
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    embedder = Counting()
    assert await likeness(Asides(embedder, tmp_path)) == (HALF, [])
    assert embedder.calls == 2  # the comparison, and the batch


async def test_a_folder_that_can_not_be_used_costs_only_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")

    def refuse(*_: object) -> None:
        raise PermissionError("of another user")

    for refused in (False, True):
        if refused:
            monkeypatch.setattr(np, "fromfile", refuse)
            monkeypatch.setattr(os, "open", refuse)
        for _ in range(2):
            embedder = Counting()
            folder = tmp_path if refused else tmp_path / "file" / "examples"
            assert await likeness(Asides(embedder, folder)) == (HALF, [])
            assert embedder.calls == CALLS


async def test_no_batch_with_a_refused_text_is_kept(tmp_path: Path) -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        calls.append(len(texts))
        return [[0.0, 0.0] if text == examples()[0] else [0.5, 0.75**0.5] for text in texts]

    calls = list[int]()
    embedder = CallableEmbedder(embed, dimensions=2, name="words")
    for _ in range(2):
        calls.clear()
        assert await likeness(Asides(embedder, tmp_path)) == (HALF, [])
        assert modes(tmp_path)[0o600] == CALLS - 1
    assert calls == [3, 64, 63]  # those compared, the batch, and the batch without that text


async def test_an_embedder_that_refuses_everything_is_soon_left_alone(tmp_path: Path) -> None:
    class Refusing(Counting):
        async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
            self.calls += 1
            raise InvalidInputError(f"no vector for {len(texts)} texts")

    embedder = Refusing()
    failed = (None, [MISSING.format("InvalidInputError")])
    assert await likeness(Asides(embedder, tmp_path)) == failed
    assert embedder.calls == 1
