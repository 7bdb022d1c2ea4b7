"""A recall run again on the real server: identical, or the difference."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from memoria.embed import CallableEmbedder
from memoria.errors import ConfigError
from memoria.learn import Learner
from memoria.recall.config import RetrieverConfig
from memoria.recall.replay import replay
from memoria.recall.strategies import STRATEGIES, AnchorSpreading, LeakyIntegrateAndFire
from memoria.retriever import GraphRetriever
from memoria.serialize import plain_recall, trace_from
from memoria.store import Store
from memoria.types import Memory, Recall, Relation, Trace
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.oracle.agreement import remove
from tests.traces import trace

NODES = 1_000
EDGES = 3_000


def vector(seed: int) -> list[float]:
    """Any vector; two of them meet at a cosine of about 0.75, each pair at another."""
    rng = random.Random(seed)
    return [rng.random() for _ in range(DIMENSIONS)]


EMBED = CallableEmbedder(
    lambda texts: [vector(NODES) for _ in texts], dimensions=DIMENSIONS, name=EMBEDDER
)


@pytest.fixture(scope="module")
async def embedded(store: Store) -> AsyncIterator[str]:
    """The scope of a sparse random graph whose memories have vectors."""
    scope = f"replay-{uuid4().hex}"
    rng = random.Random(7)
    memories = [
        Memory(id=f"n{i}", kind="Event", text=f"memory number {i}", embedding=vector(i))
        for i in range(NODES)
    ]
    ends = {tuple(rng.sample(range(NODES), 2)) for _ in range(EDGES)}
    relations = [
        Relation(
            source=f"n{one}",
            target=f"n{other}",
            relation="near",
            weight=rng.uniform(0.6, 1.0),
            tags=["x"],
        )
        for one, other in sorted(ends)
    ]
    await GraphWriter(store, scope=scope).write(memories, relations)
    yield scope
    await remove(store.driver, scope)


def read_back(found: Recall) -> Trace:
    """The trace of a recall after a way through JSON."""
    return trace_from(json.loads(json.dumps(plain_recall(found))))


@pytest.fixture
async def found(store: Store, scope: str) -> Recall:
    """A recall of a row of four memories, a to d, without an embedder."""
    memories = [Memory(id=id_, kind="Event", text=f"{id_} word{id_}") for id_ in "abcd"]
    relations = [
        Relation(source=one, target=other, relation="near", weight=0.9)
        for one, other in ("ab", "bc", "cd")
    ]
    await GraphWriter(store, scope=scope).write(memories, relations)
    return await GraphRetriever(store.driver, scope=scope).recall("worda")


async def test_the_same_settings_and_graph_are_identical(store: Store, found: Recall) -> None:
    again = await replay(store, found.trace)
    assert again.identical
    assert [path.hops for path in again.explorations[0].paths] == [
        path.hops for path in found.explorations[0].paths
    ]


async def test_a_trace_read_back_from_json_is_identical_too(store: Store, found: Recall) -> None:
    assert (await replay(store, read_back(found))).identical


@pytest.mark.parametrize(
    "strategy", [*STRATEGIES.values(), LeakyIntegrateAndFire(fire_threshold=0.1)]
)
@pytest.mark.parametrize("seeds_per_session", [1, None])
async def test_a_large_exploration_is_identical_under_any_strategy(
    store: Store, embedded: str, strategy: Any, seeds_per_session: int | None
) -> None:
    config = RetrieverConfig(strategy=strategy, seeds_per_session=seeds_per_session)
    retriever = GraphRetriever(store.driver, scope=embedded, embedder=EMBED, config=config)
    found = await retriever.recall("memory number 17", query_tags=["x"])
    assert len(found.explorations) >= 1
    assert any(path.hops for one in found.explorations for path in one.paths)
    again = await replay(store, read_back(found))
    assert again.identical
    assert [len(one.paths) for one in again.explorations] == [
        len(one.paths) for one in found.explorations
    ]


async def test_the_vector_of_the_trace_gives_the_cosines_anew(store: Store, embedded: str) -> None:
    # Those of memories that are no anchors: they are part of an energy, and asked of the server.
    config = RetrieverConfig(strategy=AnchorSpreading())
    retriever = GraphRetriever(store.driver, scope=embedded, embedder=EMBED, config=config)
    one = read_back(await retriever.recall("memory number 17"))
    anchors = {seed.id for seed in one.seeds.seeds}
    shares = [
        each.shares
        for found in one.explorations
        for each in found.activations
        if each.id not in anchors
    ]
    assert shares
    assert all(share["cosine"] > 0.3 for share in shares)  # half of about 0.75
    assert (await replay(store, one)).identical
    assert not (await replay(store, replace(one, vector=None))).identical


async def test_other_settings_show_which_paths_differ(store: Store, found: Recall) -> None:
    again = await replay(store, found.trace, {"strategy.max_depth": 1})
    assert [(one.ids, one.before is None, one.after is None) for one in again.changes] == [
        (("a", "b"), True, False),
        (("a", "b", "c", "d"), False, True),
    ]
    other = await replay(store, found.trace, {"strategy": "lif"})
    assert not other.identical


async def test_what_was_learned_since_shows_as_other_energy(
    store: Store, found: Recall, scope: str
) -> None:
    await Learner(store, scope=scope).reinforce(found.trace, ["b"])
    again = await replay(store, found.trace)
    [change] = again.changes
    assert change.before is not None
    assert change.after is not None
    assert change.after.energy > change.before.energy


async def test_a_seed_that_has_gone_loses_its_paths(
    store: Store, found: Recall, scope: str
) -> None:
    await GraphWriter(store, scope=scope).forget(["a"])
    again = await replay(store, found.trace)
    assert again.explorations[0].status == "seed_not_found"
    assert [change.after for change in again.changes] == [None]


async def test_a_recall_of_nothing_is_identical(store: Store, scope: str) -> None:
    assert (await replay(store, trace(scope))).identical


async def test_a_wrong_setting_is_refused(store: Store, found: Recall) -> None:
    with pytest.raises(ConfigError, match="no setting depth"):
        await replay(store, found.trace, {"depth": 1})
