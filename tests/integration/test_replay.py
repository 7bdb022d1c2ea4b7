"""A recall run again on the real server: identical, or the difference."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memoria.config import ExploreConfig, RetrieverConfig
from memoria.errors import ConfigError
from memoria.ingest import GraphWriter
from memoria.learn import Learner
from memoria.plain import plain_recall, trace_from
from memoria.replay import replay
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.strategies import LeakyIntegrateAndFire
from memoria.types import Memory, Recall, Relation
from tests.integration.conftest import WEB_SCOPE
from tests.traces import trace


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
    data = json.loads(json.dumps(plain_recall(found)))
    assert (await replay(store, trace_from(data))).identical


@pytest.mark.parametrize(
    "strategy", ["transfer", "lif", LeakyIntegrateAndFire(fire_threshold=0.1), "anchor", "synapse"]
)
@pytest.mark.parametrize("seeds_per_session", [1, None])
@pytest.mark.usefixtures("web")
async def test_a_large_exploration_is_identical_under_any_strategy(
    store: Store, strategy: Any, seeds_per_session: int | None
) -> None:
    config = RetrieverConfig(
        explore=ExploreConfig(strategy=strategy, seeds_per_session=seeds_per_session)
    )
    retriever = GraphRetriever(store.driver, scope=WEB_SCOPE, config=config)
    found = await retriever.recall("memory number 17 of the web", query_tags=["x"])
    assert len(found.explorations) >= 1
    again = await replay(store, found.trace)
    assert again.identical
    assert [len(one.paths) for one in again.explorations] == [
        len(one.paths) for one in found.explorations
    ]


async def test_other_settings_show_which_paths_differ(store: Store, found: Recall) -> None:
    again = await replay(store, found.trace, {"max_depth": 1})
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
