"""Settings as plain data and back, and traces that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest

from memoria.errors import ConfigError, InvalidInputError
from memoria.recall.config import RetrieverConfig
from memoria.recall.plain_settings import exploration_from, settings_of
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies import AnchorSpreading, LeakyIntegrateAndFire, TransferEnergy
from memoria.serialize import plain_recall, trace_from
from memoria.types import ContextPack, Recall, Trace
from tests.for_each import for_each
from tests.traces import trace


@pytest.mark.parametrize(
    "config",
    [
        RetrieverConfig(),
        RetrieverConfig(
            strategy=TransferEnergy(max_depth=2, min_activation=0.1), seeds_per_session=1
        ),
        RetrieverConfig(strategy=LeakyIntegrateAndFire()),
        RetrieverConfig(strategy=LeakyIntegrateAndFire(leak_rate=0.5)),
        RetrieverConfig(strategy=AnchorSpreading(fact_kinds=("Event",))),
        RetrieverConfig(
            as_of=datetime(2026, 1, 2, tzinfo=UTC), include_outdated=True, situation={"os": ["x"]}
        ),
    ],
)
def test_settings_survive_json(config: RetrieverConfig) -> None:
    plain = json.loads(json.dumps(settings_of(config)))
    assert exploration_from(plain) == config


def test_every_stage_but_the_store_is_there() -> None:
    plain = settings_of(RetrieverConfig())
    assert set(plain) == {
        "strategy",
        "seeds",
        "relevance",
        "context",
        "max_weight",
        "seeds_per_session",
        "deadline_s",
        "budget_tokens",
        "history",
        "as_of",
        "include_outdated",
        "roles",
        "situation",
        "time_phrases",
        "time_zone",
    }
    assert settings_of(RetrieverConfig(relevance=None))["relevance"] is None


def test_the_seeds_are_those_that_were_searched() -> None:
    lif = RetrieverConfig(strategy=LeakyIntegrateAndFire())
    assert settings_of(lif)["seeds"]["max_seeds"] == 8
    assert settings_of(replace(lif, seeds=SeedConfig()))["seeds"]["max_seeds"] == 5


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"strategy.max_depth": 2}, RetrieverConfig(strategy=TransferEnergy(max_depth=2))),
        ({"strategy": "lif"}, RetrieverConfig(strategy=LeakyIntegrateAndFire())),
        (
            {"strategy": "lif", "strategy.leak_rate": 0.5},
            RetrieverConfig(strategy=LeakyIntegrateAndFire(leak_rate=0.5)),
        ),
        (
            {"strategy": LeakyIntegrateAndFire(max_hops=1), "strategy.leak_rate": 0.5},
            RetrieverConfig(strategy=LeakyIntegrateAndFire(max_hops=1, leak_rate=0.5)),
        ),
        (
            {"max_weight": 2.0, "seeds_per_session": 1},
            RetrieverConfig(max_weight=2.0, seeds_per_session=1),
        ),
        (
            {"as_of": "2026-01-02T00:00+00:00", "situation": {"os": "x"}},
            RetrieverConfig(as_of=datetime(2026, 1, 2, tzinfo=UTC), situation={"os": "x"}),
        ),
        ({"include_outdated": True}, RetrieverConfig(include_outdated=True)),
    ],
)
def test_settings_may_be_changed(changes: dict[str, Any], expected: RetrieverConfig) -> None:
    assert exploration_from(settings_of(RetrieverConfig()), changes) == expected


@for_each(
    "changes, message",
    [
        ({"depth": 2}, "no setting depth"),
        ({"seeds.max_seeds": 2}, "no setting seeds.max_seeds"),
        ({"strategy": "mine"}, "'mine' is not known: choose one of transfer"),
        ({"strategy": 3}, "is not known: choose one of"),
        ({"strategy.leak_rate": 0.5}, "transfer has no setting leak_rate"),
        ({"strategy.max_depth": 0}, "max_depth"),
        ({"max_depth": 2}, "no setting max_depth: there are strategy, strategy.SETTING, "),
        ({"strategy": LeakyIntegrateAndFire}, "is not known"),
        ({"strategy": "lif", "strategy.leak_rate": 5}, "leak_rate"),
        ({"as_of": "yesterday"}, "'yesterday' is not a time"),
        ({"as_of": 7}, "as_of must be a datetime"),
        ({"include_outdated": "no"}, "include_outdated must be True or False"),
        ({"situation": 7}, "situation"),
    ],
)
def test_wrong_changes_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        exploration_from(settings_of(RetrieverConfig()), changes)


@pytest.mark.parametrize("wrong", [3, "x", [1]])
def test_settings_that_are_no_map_are_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="is not known: choose one of"):
        exploration_from({"strategy": wrong})
    with pytest.raises(ConfigError, match="is not known: choose one of"):
        exploration_from({"strategy": {"name": wrong}})


def test_a_strategy_of_ones_own_has_to_be_named_anew() -> None:
    class Mine:
        name = "mine"
        together = False
        seeds = None

        def start(self, run_input: Any) -> Any:
            return TransferEnergy().start(run_input)

    plain = settings_of(RetrieverConfig(strategy=Mine()))
    assert plain["strategy"] == {"name": "mine"}
    with pytest.raises(ConfigError, match="choose one of"):
        exploration_from(plain)
    assert exploration_from(plain, {"strategy": "lif"}).strategy == LeakyIntegrateAndFire()
    mine = Mine()
    assert exploration_from(plain, {"strategy": mine}).strategy is mine


def test_times_and_maps_of_a_strategy_are_plain_in_json() -> None:
    @dataclass(frozen=True)
    class Timed:
        name: ClassVar[str] = "timed"
        together: ClassVar[bool] = False
        seeds: ClassVar[SeedConfig | None] = None
        now: datetime | None = datetime(2026, 5, 2, tzinfo=UTC)
        context: Mapping[str, Any] = field(default_factory=lambda: {"language": "go"})

        def start(self, run_input: Any) -> Any:
            return TransferEnergy().start(run_input)

    plain = settings_of(RetrieverConfig(strategy=Timed()))
    assert json.loads(json.dumps(plain))["strategy"] == {
        "name": "timed",
        "now": "2026-05-02T00:00:00+00:00",
        "context": {"language": "go"},
    }


def recall_of(found: Trace) -> Recall:
    return Recall(
        seeds=found.seeds,
        explorations=found.explorations,
        ranked=(),
        context=ContextPack(text="", tokens=0, items=(), omitted=()),
        trace=found,
    )


def plain_trace(**fields: Any) -> Any:
    found = trace("s", [("a", 1.0), ("b", 0.5)], hits=["h"], **fields)
    return json.loads(json.dumps(plain_recall(recall_of(found))))


def test_a_trace_survives_json() -> None:
    found = trace(
        "s",
        [("a", 1.0), ("b", 0.5)],
        [("z", 0.3)],
        hits=["h"],
        config=settings_of(RetrieverConfig()),
        vector=(0.25, -0.5),
    )
    data = json.loads(json.dumps(plain_recall(recall_of(found))))
    assert trace_from(data) == found
    assert data["trace"]["frontiers"] == [
        {"seed_id": "a", "levels": [[["a", 1.0]], [["b", 0.5]]]},
        {"seed_id": "z", "levels": [[["z", 0.3]]]},
    ]


def test_recalls_have_ids_of_their_own() -> None:
    found = trace("s", [("a", 1.0)])
    assert found.id != trace("s", [("a", 1.0)]).id
    assert replace(found, query="other").id == found.id


@for_each(
    "place, value, named",
    [
        ("trace", None, "trace must be a map"),
        ("trace.id", 3, "trace.id"),
        ("trace.config", [], "trace.config"),
        ("trace.vector", ["x"], r"trace.vector\[0\]"),
        ("trace.started_at", "today", "trace.started_at"),
        ("trace.timings_s", {"seeds": -1}, "trace.timings_s.seeds"),
        ("scope", "", "scope"),
        ("runners_up", [{}], r"runners_up\[0\]"),
    ],
)
def test_what_is_wrong_in_a_trace_is_named(place: str, value: Any, named: str) -> None:
    data = plain_trace()
    part, _, name = place.rpartition(".")
    (data[part] if part else data)[name] = value
    with pytest.raises(InvalidInputError, match=named):
        trace_from(data)


def test_what_explore_printed_is_no_trace() -> None:
    data = plain_trace()
    del data["trace"]
    with pytest.raises(InvalidInputError, match="trace is missing"):
        trace_from(data)
