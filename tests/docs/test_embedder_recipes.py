"""The recipes for embedders of services, on a stand-in that is as rude as services are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any
from urllib.error import HTTPError

import pytest

import memoria
from tests.docs.blocks import read_blocks
from tests.docs.hosted_model import Failure, HostedModel, vector
from tests.docs.pages import ROOT

TEXTS = [f"text number {n}" for n in range(250)]


@pytest.fixture
def served() -> Iterator[Callable[..., HostedModel]]:
    """Start a stand-in that fails as it is told to; it ends with the test."""
    started: list[HostedModel] = []

    def start(*failures: Failure) -> HostedModel:
        started.append(HostedModel(*failures))
        return started[-1]

    yield start
    for model in started:
        model.close()


def recipe(name: str, model: HostedModel, *, replace: tuple[str, str] = ("", "")) -> Any:
    """The embedder of that name, made by the page's own code, with its waits cut short."""
    made: dict[str, Any] = {
        "embeddings_url": model.url,
        "ollama_url": model.ollama_url,
        "api_key": HostedModel.KEY,
    }
    for block in read_blocks(ROOT / "docs" / "recipes.md"):
        if block.language == "python":
            exec(block.code.replace(*replace), made)  # the page's own code
        if name in made:
            return made[name]
    raise AssertionError(f"the page has no {name}")


def test_many_texts_go_in_requests_of_a_hundred_and_come_back_in_order(
    served: Callable[..., HostedModel],
) -> None:
    model = served()
    vectors = asyncio.run(recipe("hosted", model).embed_documents(TEXTS))
    assert vectors == [vector(text, 256) for text in TEXTS]
    assert [count for _, count in model.asked] == [100, 100, 50]


def test_a_rate_limit_is_waited_for_as_long_as_the_service_asks(
    served: Callable[..., HostedModel],
) -> None:
    model = served(Failure(429, {"Retry-After": "1"}))
    assert asyncio.run(recipe("hosted", model).embed_query("a b")) == vector("a b", 256)
    (first, _), (second, _) = model.asked
    assert second - first >= 1


def test_overload_and_a_lost_connection_are_tried_again(
    served: Callable[..., HostedModel],
) -> None:
    model = served(Failure(503), Failure(500), Failure(200, silent_s=4.0))
    quick = ("timeout=30", "timeout=2")
    hosted = recipe("hosted", model, replace=quick)
    hosted._function.__globals__["embed_some"].retry.wait = lambda _: 0.0
    assert asyncio.run(hosted.embed_query("a b")) == vector("a b", 256)
    assert len(model.asked) == 4


def test_a_wrong_key_fails_at_once(served: Callable[..., HostedModel]) -> None:
    model = served(Failure(401))
    with pytest.raises(HTTPError, match="401"):
        asyncio.run(recipe("hosted", model).embed_query("a b"))
    assert len(model.asked) == 1


def test_it_gives_up_after_six_tries(served: Callable[..., HostedModel]) -> None:
    model = served(*[Failure(429, {"Retry-After": "0"})] * 9)
    with pytest.raises(HTTPError, match="429"):
        asyncio.run(recipe("hosted", model).embed_query("a b"))
    assert len(model.asked) == 6


def test_a_model_server_gets_its_prefixes(served: Callable[..., HostedModel]) -> None:
    own = recipe("own_server", served())
    assert isinstance(own, memoria.CallableEmbedder)
    assert asyncio.run(own.embed_query("a b")) == vector("search_query: a b", 768)
    assert asyncio.run(own.embed_documents(["a"])) == [vector("search_document: a", 768)]


def test_the_library_has_a_class_which_loads_nothing_yet(
    served: Callable[..., HostedModel],
) -> None:
    assert recipe("multilingual", served()).name == "intfloat/multilingual-e5-small"
