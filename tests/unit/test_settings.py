"""Settings as plain data and back, and traces that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest

from memoria.config import RetrieverConfig
from memoria.errors import ConfigError, InvalidInputError
from memoria.plain import plain_recall, trace_from
from memoria.plain.settings import explore_config_from, settings_of
from memoria.strategies import AnchorSpreading, LeakyIntegrateAndFire, TransferEnergy
from memoria.strategies.config import ExploreConfig
from memoria.types import ContextPack, Recall, Trace
from tests.traces import trace


@pytest.mark.parametrize(
    "explore",
    [
        ExploreConfig(),
        ExploreConfig(max_depth=2, min_activation=0.1, seeds_per_session=1),
        ExploreConfig(strategy="lif"),
        ExploreConfig(strategy=LeakyIntegrateAndFire(leak_rate=0.5)),
        ExploreConfig(strategy=AnchorSpreading(fact_kinds=("Event",))),
    ],
)
def test_settings_survive_json(explore: ExploreConfig) -> None:
    plain = json.loads(json.dumps(settings_of(RetrieverConfig(explore=explore))))
    assert explore_config_from(plain) == explore


def test_every_stage_but_the_store_is_there() -> None:
    plain = settings_of(RetrieverConfig())
    assert set(plain) == {
        "seeds",
        "explore",
        "context",
        "relevance",
        "deadline_s",
        "budget_tokens",
    }
    assert settings_of(RetrieverConfig(relevance=None))["relevance"] is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"max_depth": 2}, ExploreConfig(max_depth=2)),
        ({"strategy": "lif"}, ExploreConfig(strategy="lif")),
        (
            {"strategy": "lif", "strategy.leak_rate": 0.5},
            ExploreConfig(strategy=LeakyIntegrateAndFire(leak_rate=0.5)),
        ),
    ],
)
def test_settings_may_be_changed(changes: dict[str, Any], expected: ExploreConfig) -> None:
    assert explore_config_from(settings_of(RetrieverConfig()), changes) == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"depth": 2}, "no setting depth"),
        ({"seeds.max_seeds": 2}, "no setting seeds.max_seeds"),
        ({"strategy": "mine"}, "'mine' is not known: choose one of transfer"),
        ({"strategy": 3}, "is not known: choose one of"),
        ({"strategy.leak_rate": 0.5}, "transfer has no setting leak_rate"),
        ({"max_depth": 0}, "max_depth"),
        ({"strategy": "lif", "strategy.leak_rate": 5}, "leak_rate"),
    ],
)
def test_wrong_changes_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        explore_config_from(settings_of(RetrieverConfig()), changes)


@pytest.mark.parametrize("wrong", [3, "x", [1]])
def test_settings_that_are_no_map_are_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="explore must be a map"):
        explore_config_from({"explore": wrong})
    with pytest.raises(ConfigError, match="is not known: choose one of"):
        explore_config_from({"explore": {"strategy": {"name": wrong}}})


def test_a_strategy_of_ones_own_has_to_be_named_anew() -> None:
    class Mine:
        name = "mine"
        together = False
        seeds = None

        def start(self, question: Any) -> Any:
            return TransferEnergy().start(question)

    plain = settings_of(RetrieverConfig(explore=ExploreConfig(strategy=Mine())))
    assert plain["explore"]["strategy"] == {"name": "mine"}
    with pytest.raises(ConfigError, match="choose one of"):
        explore_config_from(plain)
    assert explore_config_from(plain, {"strategy": "lif"}).strategy == "lif"


def test_times_and_maps_of_a_strategy_are_plain_in_json() -> None:
    @dataclass(frozen=True)
    class Timed:
        name: ClassVar[str] = "timed"
        now: datetime | None = datetime(2026, 5, 2, tzinfo=UTC)
        context: Mapping[str, Any] = field(default_factory=lambda: {"language": "go"})

        def start(self, question: Any) -> Any:
            return TransferEnergy().start(question)

    plain = settings_of(RetrieverConfig(explore=ExploreConfig(strategy=Timed())))
    assert json.loads(json.dumps(plain))["explore"]["strategy"] == {
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


@pytest.mark.parametrize(
    ("place", "value", "named"),
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
