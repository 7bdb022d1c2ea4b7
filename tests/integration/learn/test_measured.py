"""The linkers as they ship, with the cosines that were measured of an embedder."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import neo4j
import pytest

import memoria
from memoria.embed import CallableEmbedder, Embedder, OnnxEmbedder
from memoria.graph.schema import apply_schema
from memoria.learn.link import CompositeLinkConfig, LinkConfig, Linker, SimilarityLinkConfig
from memoria.store import Store, Target
from memoria.store.config import StoreConfig
from memoria.types import Memory
from memoria.writer import GraphWriter
from tests.integration.alone import driver, run_statement, target, wipe
from tests.integration.cli.test_commands import Call, call, secret
from tests.integration.recall.test_anchor import TEXTS

__all__ = ["call", "driver", "secret", "target"]

STRANGERS = {"weather", "recipe"}
LINKERS: dict[str, LinkConfig] = {
    "composite": CompositeLinkConfig(),
    "similarity": SimilarityLinkConfig(),
}


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> OnnxEmbedder:
    return OnnxEmbedder(home=tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def store(driver: neo4j.AsyncDriver) -> Store:
    """One that waits: the server has just been started, and set up again for each test."""
    return Store(driver, database="neo4j", config=StoreConfig(query_timeout_s=120.0))


async def set_up(store: Store, embedder: Embedder) -> None:
    await wipe(store)
    if store.facts.kept is not None:
        store.facts.forget(store.facts.kept)
    await apply_schema(store, embedder=embedder)


async def pairs(store: Store, scope: str) -> set[frozenset[str]]:
    query = "MATCH (a:Memory {scope: $s})-[:RELATES {relation: 'similar'}]->(b) RETURN a.id, b.id"
    return {frozenset(row.values()) for row in await run_statement(store, query, s=scope)}


@pytest.mark.timeout(600)  # the model is downloaded the first time
@pytest.mark.parametrize("name", LINKERS)
async def test_what_belongs_together_is_joined_and_strangers_are_not(
    store: Store, embedder: OnnxEmbedder, name: str
) -> None:
    await set_up(store, embedder)
    linker = Linker(store, scope=name, config=LINKERS[name])
    writer = GraphWriter(store, scope=name, embedder=embedder, linker=linker)
    await writer.write([Memory(id=i, kind="Event", text=text) for i, text in TEXTS.items()])
    found = await pairs(store, name)
    assert frozenset(("ipc", "retrieval")) in found
    ends = {end for pair in found for end in pair}
    assert not STRANGERS & ends
    if name == "similarity":  # the linker of the source that these texts come from
        assert ends == TEXTS.keys() - STRANGERS


@pytest.mark.timeout(600)
async def test_a_remembered_sentence_is_joined_with_what_is_near_it(
    store: Store, embedder: OnnxEmbedder
) -> None:
    await set_up(store, embedder)
    memory = memoria.GraphRetriever(store, scope="said", embedder=embedder)
    writer = memory.writer(linker=memory.linker(config=SimilarityLinkConfig()))
    for name, text in TEXTS.items():
        if name in {"ipc", "weather"}:
            await writer.write([Memory(id=name, kind="Event", text=text)])
    done = await writer.remember(TEXTS["retrieval"])
    assert await pairs(store, "said") == {frozenset(("ipc", done.id))}


@pytest.mark.timeout(600)
async def test_the_command_links_by_default_and_by_thresholds_of_its_user(
    store: Store, embedder: OnnxEmbedder, call: Call, target: Target, secret: Path
) -> None:
    await set_up(store, embedder)
    memories = [Memory(id=i, kind="Event", text=text) for i, text in TEXTS.items()]
    await GraphWriter(store, scope="by hand", embedder=embedder).write(memories)
    where = ("--uri", target.uri, "--password-file", str(secret))

    async def edges(*options: str) -> int:
        done = await asyncio.to_thread(
            call, "link", "--scope", "by hand", "--json", *options, *where
        )
        assert done.code == 0, done.err
        count: int = json.loads(done.out)["edges"]
        return count

    assert await edges("--linker", "similarity", "--min-cosine", "0.9") == 0
    assert await edges("--min-score", "0.9") == 0
    assert await edges("--linker", "similarity", "--min-cosine", "0.4") == 5
    assert await edges("--linker", "similarity") > 10
    ends = {end for pair in await pairs(store, "by hand") for end in pair}
    assert ends == TEXTS.keys() - STRANGERS
    assert await edges() > 5


class Counting:
    """Vectors near a common direction, as many models make them; counts its texts."""

    def __init__(self, name: str) -> None:
        self.texts = 0
        self.embedder = CallableEmbedder(self.embed, dimensions=32, name=name)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += len(texts)
        sources = [random.Random(text) for text in texts]  # the same vector for the same text
        return [[3.0 + source.gauss() for _ in range(32)] for source in sources]


@pytest.mark.parametrize("config", LINKERS.values(), ids=LINKERS)
async def test_an_embedder_of_ones_own_is_measured_once(store: Store, config: LinkConfig) -> None:
    mine = Counting(f"mine {uuid4().hex}")
    await set_up(store, mine.embedder)
    memories = [Memory(id=f"{n}", kind="Event", text=f"text {n}") for n in range(12)]
    linker = Linker(store, scope="mine", config=config, embedder=mine.embedder)
    await GraphWriter(store, scope="mine", embedder=mine.embedder, linker=linker).write(memories)
    assert mine.texts == 12 + 64
    assert len(await pairs(store, "mine")) < 4, "nearly all are as near as unrelated texts"
    await Linker(store, scope="mine", config=config, embedder=mine.embedder).link()
    await Linker(store, scope="mine", config=config).link()
    assert mine.texts == 12 + 64
    assert len(await pairs(store, "mine")) < 4


async def test_an_embedder_that_fails_while_it_is_measured_links_nothing_and_may_try_again(
    store: Store,
) -> None:
    mine = Counting("moody")
    await set_up(store, mine.embedder)
    twice = [Memory(id=i, kind="Event", text="the same text") for i in "ab"]
    await GraphWriter(store, scope="moody", embedder=mine.embedder).write(twice)

    def fail(texts: list[str]) -> list[list[float]]:
        raise OSError(f"away, for {len(texts)} texts")

    broken = CallableEmbedder(fail, dimensions=32, name="moody")
    report = await Linker(store, scope="moody", embedder=broken).link(only_new=True)
    assert report.memories == 0
    report = await Linker(store, scope="moody", embedder=mine.embedder).link(only_new=True)
    assert (report.memories, report.edges_created) == (2, 1)
