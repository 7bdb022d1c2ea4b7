"""Embedders without a model: the callable one, the checks, the errors, what importing loads."""

from __future__ import annotations

import asyncio
import math
import os
import random
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import neo4j
import numpy as np
import pytest

from memoria._support.extras import install_command
from memoria.doctor import examine
from memoria.embed import (
    ONNX_MODELS,
    CachedEmbedder,
    CallableEmbedder,
    Embedder,
    OnnxEmbedder,
    SentenceTransformerEmbedder,
    check_vectors,
)
from memoria.errors import ConfigError, DimensionError, InvalidInputError
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.writer import GraphWriter
from tests.for_each import for_each

REPOSITORY = Path(__file__).resolve().parents[3]


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


async def lengths_async(texts: list[str]) -> list[list[float]]:
    await asyncio.sleep(0)
    return lengths(texts)


class AsyncLengths:
    async def __call__(self, texts: list[str]) -> list[list[float]]:
        return await lengths_async(texts)


def embedder_giving(vectors: object) -> CallableEmbedder:
    return CallableEmbedder(lambda _texts: vectors, dimensions=2, name="given")  # type: ignore[arg-type, return-value]


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    "function", [lengths, lengths_async, AsyncLengths(), lambda texts: lengths_async(texts)]
)
async def test_plain_and_async_callables_give_the_same_vectors(function: object) -> None:
    embedder = CallableEmbedder(function, dimensions=2, name="lengths")  # type: ignore[arg-type]
    assert await embedder.embed_documents(["a", "bcd"]) == [[1.0, 1.0], [3.0, 1.0]]
    assert await embedder.embed_query("four") == [4.0, 1.0]


async def test_plain_callable_runs_in_a_thread_and_async_one_in_the_loop() -> None:
    threads: list[int] = []

    def plain(texts: list[str]) -> list[list[float]]:
        threads.append(threading.get_ident())
        return lengths(texts)

    async def coroutine(texts: list[str]) -> list[list[float]]:
        return plain(texts)

    await CallableEmbedder(plain, dimensions=2, name="plain").embed_query("a")
    await CallableEmbedder(coroutine, dimensions=2, name="coroutine").embed_query("a")
    assert threads[0] != threading.get_ident()
    assert threads[1] == threading.get_ident()


async def test_query_function_is_used_for_queries_only() -> None:
    embedder = CallableEmbedder(
        lengths, dimensions=2, name="two", query_function=lambda texts: [[0.0, 9.0] for _ in texts]
    )
    assert await embedder.embed_query("abc") == [0.0, 9.0]
    assert await embedder.embed_documents(["abc"]) == [[3.0, 1.0]]


async def test_no_texts_make_no_call() -> None:
    assert await embedder_giving("not even vectors").embed_documents([]) == []


async def test_numpy_output_becomes_lists_of_python_floats() -> None:
    [vector] = await embedder_giving(np.array([[1, 2]], dtype=np.float32)).embed_documents(["a"])
    assert vector == [1.0, 2.0]
    assert [type(value) for value in vector] == [float, float]


async def test_vector_of_another_size_names_both_sizes() -> None:
    with pytest.raises(DimensionError, match=r"'given' returned a vector of 3 .* declares 2 "):
        await embedder_giving([[1.0, 2.0, 3.0]]).embed_query("a")


async def test_another_number_of_vectors_names_both_counts() -> None:
    with pytest.raises(DimensionError, match="returned 1 vector for 2 texts"):
        await embedder_giving([[1.0, 2.0]]).embed_documents(["a", "b"])


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
async def test_number_that_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(InvalidInputError, match="not finite"):
        await embedder_giving([[1.0, number]]).embed_query("a")


async def test_vector_of_zeros_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="zeros"):
        await embedder_giving([[0.0, 0.0]]).embed_query("a")


@for_each(
    "output",
    [None, "ab", 1.0, [1.0, 2.0], ["ab"], [["1", "2"]], [[1.0, None]], [[[1.0, 2.0]]], {}, b"ab"],
)
async def test_output_that_is_no_list_of_vectors_is_refused(output: object) -> None:
    with pytest.raises(InvalidInputError):
        await embedder_giving(output).embed_query("a")


async def test_error_of_the_function_passes_unchanged() -> None:
    def fails(_texts: list[str]) -> list[list[float]]:
        raise TimeoutError("the host is busy")

    with pytest.raises(TimeoutError, match="the host is busy"):
        await CallableEmbedder(fails, dimensions=2, name="fails").embed_query("a")


@for_each("text", ["", " ", "\n\t", "\u3000", "\ud800", None, 7, "x" * 1_000_001])
@for_each(
    "embedder",
    [
        CallableEmbedder(lengths, dimensions=2, name="lengths"),
        OnnxEmbedder(),
        SentenceTransformerEmbedder(),
    ],
)
async def test_text_that_cannot_be_embedded_is_refused_before_any_work(
    embedder: Embedder, text: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await embedder.embed_query(text)
    assert caught.value.field == "query"
    with pytest.raises(InvalidInputError) as caught:
        await embedder.embed_documents(["fine", text])
    assert caught.value.field == "texts[1]"


async def test_one_string_in_place_of_a_list_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="got one string"):
        await CallableEmbedder(lengths, dimensions=2, name="lengths").embed_documents("ab")


@pytest.mark.parametrize("dimensions", [0, -1, 4097, True, 2.0, "2", None])
def test_dimensions_out_of_range_are_refused(dimensions: int) -> None:
    with pytest.raises(ConfigError, match="dimensions"):
        CallableEmbedder(lengths, dimensions=dimensions, name="lengths")


@pytest.mark.parametrize("name", ["", None, 7, "x" * 513])
def test_name_that_cannot_be_recorded_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="name"):
        CallableEmbedder(lengths, dimensions=2, name=name)
    with pytest.raises(ConfigError, match="model"):
        SentenceTransformerEmbedder(name)


def test_something_that_is_no_function_is_refused() -> None:
    with pytest.raises(ConfigError, match="not a function"):
        CallableEmbedder("lengths", dimensions=2, name="lengths")  # type: ignore[arg-type]


def test_unknown_onnx_model_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(ConfigError, match=r"bge-small-en-v1\.5-q, all-minilm-l6-v2-q"):
        OnnxEmbedder("bge-large")


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="threads"):
        OnnxEmbedder(threads=0)
    with pytest.raises(ConfigError, match="batch_size"):
        SentenceTransformerEmbedder(batch_size=0)


def test_all_embedders_follow_the_protocol_and_other_things_do_not() -> None:
    assert isinstance(CallableEmbedder(lengths, dimensions=2, name="lengths"), Embedder)
    assert isinstance(OnnxEmbedder(), Embedder)
    assert not isinstance(lengths, Embedder)


@pytest.mark.parametrize("model", ONNX_MODELS)
def test_onnx_embedder_knows_name_and_dimensions_without_loading(model: str) -> None:
    embedder = OnnxEmbedder(model)
    assert (embedder.name, embedder.dimensions) == (model, 384)


def test_check_vectors_serves_embedders_of_others() -> None:
    vectors: Sequence[Sequence[float]] = ((1, 2), (3.5, 4))
    assert check_vectors(vectors, name="other", count=2, dimensions=2) == [[1.0, 2.0], [3.5, 4.0]]


def test_import_loads_no_model_library() -> None:
    done = run_python(
        "import sys, memoria.embed\n"
        "heavy = ('onnxruntime', 'tokenizers', 'torch', 'sentence_transformers', 'jgo')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    ("library", "embedder", "extra"),
    [
        ("onnxruntime", "OnnxEmbedder", "onnx"),
        ("tokenizers", "OnnxEmbedder", "onnx"),
        ("sentence_transformers", "SentenceTransformerEmbedder", "sentence-transformers"),
    ],
)
def test_missing_extra_says_which_to_install(library: str, embedder: str, extra: str) -> None:
    done = run_python(
        f"import asyncio, sys; sys.modules[{library!r}] = None\n"
        f"from memoria.embed import {embedder}\n"
        f"asyncio.run({embedder}().embed_query('a'))"
    )
    assert "ConfigError" in done.stderr
    assert install_command(extra) in done.stderr


@pytest.fixture
async def driver() -> AsyncIterator[neo4j.AsyncDriver]:
    """A driver that connects to nothing."""
    async with neo4j.AsyncGraphDatabase.driver("bolt://127.0.0.1:1") as opened:
        yield opened


class NoMethods:
    """Has a name and a size, and embeds nothing."""

    name = "x"
    dimensions = 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lengths, "embedder must be an embedder, got a function: wrap it in CallableEmbedder"),
        (lengths_async, "wrap it in CallableEmbedder"),
        (AsyncLengths(), "got an AsyncLengths: wrap it in CallableEmbedder"),
        (CallableEmbedder, "got the class CallableEmbedder: make one of it"),
        (NoMethods(), "got a NoMethods: it needs name, dimensions, embed_documents and"),
        ("bge-small", "got a str: it needs name"),
        (5, "got an int"),
    ],
)
async def test_what_is_not_an_embedder_is_refused_wherever_one_is_given(
    driver: neo4j.AsyncDriver, given: Any, message: str
) -> None:
    store = Store(driver, database="neo4j")
    with pytest.raises(InvalidInputError, match=message) as caught:
        GraphRetriever(driver, scope="s", embedder=given)
    assert caught.value.field == "embedder"
    with pytest.raises(InvalidInputError, match=message):
        GraphWriter(store, scope="s", embedder=given)
    with pytest.raises(InvalidInputError, match=message):
        CachedEmbedder(given)
    with pytest.raises(InvalidInputError, match=message):
        await examine(store, embedder=given, rng=random.Random(1))


async def test_checking_an_embedder_asks_it_nothing(driver: neo4j.AsyncDriver) -> None:
    class Lazy:
        @property
        def name(self) -> str:
            raise AssertionError("loads a model")

        dimensions = name

        async def embed_documents(self, _: Sequence[str]) -> list[list[float]]:
            raise AssertionError

        async def embed_query(self, _: str) -> list[float]:
            raise AssertionError

    lazy: Any = Lazy()
    assert GraphRetriever(driver, scope="s", embedder=lazy).embedder is lazy
    assert GraphWriter(Store(driver, database="neo4j"), scope="s", embedder=lazy).embedder is lazy


@pytest.mark.parametrize(
    "bad",
    [
        [math.nan, 1.0],
        [math.inf, 1.0],
        [0.0, 0.0],
        [1.0],
        [],
        None,
        "ab",
        [1.0, None],
        [True, False],
        [1j, 1j],
        [[1.0], [2.0]],
        [[1.0], [2.0, 3.0]],
        [1e300, 1e300],
        [1e-300, 0.0],
    ],
)
def test_a_vector_that_can_not_be_used_is_named_by_the_place_of_its_text(bad: Any) -> None:
    with pytest.raises(InvalidInputError, match="for text 2 of 3") as caught:
        check_vectors([[1.0, 0.0], bad, [0.0, 1.0]], name="mine", count=3, dimensions=2)
    assert caught.value.item == 1
