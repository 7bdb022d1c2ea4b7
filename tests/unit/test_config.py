"""Settings: their ranges, and an error that names the one that is wrong."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.embed import CallableEmbedder, OnnxEmbedder, SentenceTransformerEmbedder
from memoria.errors import ConfigError, InvalidInputError
from memoria.evaluation.config import EvaluationConfig
from memoria.evaluation.tuning import check_folds
from memoria.learn.link import CompositeLinkConfig, SimilarityLinkConfig
from memoria.local.settings import whole_version
from memoria.recall.config import RetrieverConfig
from memoria.recall.context.config import ContextConfig
from memoria.recall.plain_settings import exploration_from
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies import AnchorSpreading, TransferEnergy
from memoria.remember.rules import RuleExtractor
from memoria.retriever import check_learn
from memoria.store import Target
from memoria.store.config import StoreConfig
from memoria.types import Seed
from tests.for_each import for_each

CONFIGS = (StoreConfig, SeedConfig, ContextConfig, RetrieverConfig)
NAMED_CHOICES = (
    "fusion",
    "transactions",
    "order",
    "format",
    "names",
    "label_prefix",
    "include_outdated",
    "time_phrases",
    "time_zone",
)
HUGE = 10**5000  # has no float, and Python refuses to print it
EARLY = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))  # in UTC, before the year 1

# Config, field, values at the ends of its range, values beyond them.
RANGES: list[tuple[type[Any], str, list[Any], list[Any]]] = [
    (StoreConfig, "connect_timeout_s", [1e-3, 5, 1e6], [0, -1, 1e6 + 1]),
    (StoreConfig, "query_timeout_s", [1e-3, 10, 1e6], [0, -0.0, -1, 1e300]),
    (StoreConfig, "long_query_timeout_s", [1e-3, 60, 1e6], [0, -1, 1e300]),
    (StoreConfig, "retry_base_s", [1e-9, 0.05], [0, -1]),
    (StoreConfig, "max_retries", [0, 10], [-1, 11, 1.0]),
    (StoreConfig, "max_sessions", [1, 10_000], [0, 10_001, 1.5]),
    (StoreConfig, "max_recalls", [1, 10_000], [0, 10_001, 1.5]),
    (SeedConfig, "max_seeds", [1, 50], [0, 101, 5.0]),
    (SeedConfig, "candidates", [5, 1_000], [4, 1_001, 50.0]),
    (SeedConfig, "rrf_k", [1e-9, 60, 1e9], [0, -1]),
    (SeedConfig, "alpha", [0, 0.0, 1, 1.0], [-1e-9, 1.0000000000000002]),
    (SeedConfig, "fusion", ["rrf", "linear", "cosine"], ["RRF", "", None, 1, ["rrf"]]),
    (SeedConfig, "max_facts", [0, 100], [-1, 101, 1.0]),
    (SeedConfig, "unembedded", [0, 1_000], [-1, 1_001, 1.0]),
    (SeedConfig, "question_kinds", [(), ("Event",)], [None, "Event", ["Event"], (1,)]),
    (SeedConfig, "fact_kinds", [(), ("Event",)], [None, "Event", ["Event"], (1,)]),
    (StoreConfig, "transactions", ["auto", "managed"], ["Auto", None, 1]),
    (RetrieverConfig, "max_weight", [1e-9, 1, 2.5], [0, -1]),
    (RetrieverConfig, "seeds_per_session", [None, 1, 1_000], [0, 1_001, 1.0]),
    (ContextConfig, "order", ["relevance", "time"], ["Time", None, 1]),
    (ContextConfig, "format", ["text", "markdown", "json"], ["md", None, 1]),
    (ContextConfig, "names", ["label", "id"], ["ids", None, 1]),
    (ContextConfig, "label_prefix", ["", "b", "abcdefgh"], ["B", "a1", "abcdefghi", None, 1]),
    (ContextConfig, "duplicate_overlap", [None, 1e-9, 1], [0, -0.5, 1.0000000000000002]),
    (ContextConfig, "duplicate_cosine", [None, 1e-9, 1], [0, -0.5, 1.0000000000000002]),
    (ContextConfig, "min_relevance", [0, 1e-9, 1], [-1e-9, 1.0000000000000002, None]),
    (ContextConfig, "min_best_relevance", [0, 1e-9, 1], [-1e-9, 1.0000000000000002, None]),
    (RetrieverConfig, "deadline_s", [1e-3, 10, 1e6], [0, -1, 1e300]),
    (RetrieverConfig, "budget_tokens", [1, 100_000_000], [0, 100_000_001, 5.0]),
    (RetrieverConfig, "as_of", [None, datetime(2026, 1, 2, tzinfo=UTC)], ["2026-01-02", 7, EARLY]),
    (RetrieverConfig, "include_outdated", [False, True], [None, 1, "no"]),
    (RetrieverConfig, "time_phrases", [False, True], [None, 1, "no"]),
    (RetrieverConfig, "time_zone", [None, UTC, "Europe/Berlin"], ["nowhere", "../x", 7]),
]
NO_NUMBERS = ["1", b"1", True, [1], math.nan, math.inf, -math.inf, HUGE, -HUGE, 1j]


@for_each(
    "config, field, value",
    [(config, field, value) for config, field, good, _ in RANGES for value in good],
)
def test_setting_takes_the_ends_of_its_range(config: Any, field: str, value: Any) -> None:
    assert getattr(config(**{field: value}), field) == value


@for_each(
    "config, field, value",
    [(config, field, value) for config, field, _, bad in RANGES for value in bad],
)
def test_setting_refuses_what_is_beyond(config: Any, field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{field} ") as caught:
        config(**{field: value})
    assert caught.value.field == field


@for_each(
    "config, field",
    [(config, field) for config, field, *_ in RANGES if field not in NAMED_CHOICES],
)
def test_setting_refuses_what_is_no_number_of_its_kind(config: Any, field: str) -> None:
    for value in NO_NUMBERS:
        with pytest.raises(ConfigError, match=f"^{field} "):
            config(**{field: value})


DEEP: list[Any] = []
for _ in range(10_000):
    DEEP = [DEEP]


@for_each("wrong", [5, "x", [], {}, DEEP, SeedConfig])
@for_each("field", ["seeds", "relevance", "history", "context"])
def test_a_setting_that_is_an_object_is_of_its_class(field: str, wrong: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{field} must be a "):
        RetrieverConfig(**{field: wrong})
    if field != "context":
        without: dict[str, Any] = {field: None}
        assert getattr(replace(RetrieverConfig(), **without), field) is None


@pytest.mark.parametrize(
    "given",
    [
        *({"vector_rank": 0}, {"text_rank": 1.5}, {"vector_rank": DEEP}, {"text_rank": "1"}),
        *({"vector_score": DEEP}, {"text_score": math.nan}, {"vector_score": "high"}),
    ],
    ids=range(7),
)
def test_ranks_and_scores_of_a_seed_are_numbers(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(given))):
        Seed(id="a", score=1.0, **given)
    with pytest.raises(ConfigError, match="use_spreading must be True or False"):
        AnchorSpreading(use_spreading=DEEP)  # type: ignore[arg-type]


def test_every_setting_is_covered_here() -> None:
    named = {(config, field) for config, field, *_ in RANGES}
    for config in CONFIGS:
        for field in dataclasses.fields(config):
            stage = field.default is dataclasses.MISSING or field.name == "seeds"
            assert stage or (config, field.name) in named


@pytest.mark.parametrize("config", CONFIGS)
def test_settings_cannot_be_changed_in_place(config: Any) -> None:
    instance = config()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(instance, dataclasses.fields(config)[0].name, 1)
    assert instance == config()


def test_replace_checks_again() -> None:
    assert dataclasses.replace(RetrieverConfig(), max_weight=2).max_weight == 2
    with pytest.raises(ConfigError):
        dataclasses.replace(RetrieverConfig(), max_weight=0)


def test_defaults_are_those_of_the_design() -> None:
    config = RetrieverConfig()
    assert config.strategy == TransferEnergy()
    assert (config.max_weight, config.seeds_per_session) == (1.0, None)
    assert StoreConfig().transactions == "auto"
    seeds = config.seed_search
    assert (config.seeds, seeds) == (None, SeedConfig())
    assert (seeds.max_seeds, seeds.fusion, seeds.rrf_k, seeds.alpha) == (5, "rrf", 60, 0.5)
    store = StoreConfig()
    assert (store.connect_timeout_s, store.max_retries, store.retry_base_s) == (5.0, 3, 0.05)
    # The tests give calls a minute (tests/conftest.py); the field says what a user gets.
    assert {field.name: field.default for field in dataclasses.fields(config)}["deadline_s"] == 10.0


@pytest.mark.parametrize(
    ("config", "settings", "other"),
    [
        (SeedConfig, {"max_seeds": 60}, "max_seeds (60)"),
        (CompositeLinkConfig, {"max_links": 60}, "max_links (60)"),
        (SimilarityLinkConfig, {"max_links": 60}, "max_links (60)"),
    ],
)
def test_too_few_candidates_name_the_setting_that_asks_for_more(
    config: type[Any], settings: dict[str, int], other: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        config(**settings)
    expected = f"candidates must not be below {other}, got 50: raise candidates, too"
    assert str(caught.value) == expected
    config(**settings, candidates=60)


@given(st.data())
def test_any_value_is_taken_or_is_a_config_error(data: st.DataObject) -> None:
    config, field, *_ = data.draw(st.sampled_from(RANGES))
    value = data.draw(st.none() | st.booleans() | st.integers() | st.floats() | st.text())
    wrong: str | None = field
    try:
        config(**{field: value})
    except ConfigError as exc:
        wrong = exc.field
    assert wrong in (field, "candidates")


# --- single settings of a call ------------------------------------------------------------------


def test_a_single_setting_leaves_all_others_as_they_are() -> None:
    mine = RetrieverConfig(
        budget_tokens=700, seeds=SeedConfig(max_seeds=3), context=ContextConfig(order="time")
    )
    found = mine.overridden({"max_seeds": 60, "min_relevance": 0.1, "deadline_s": None})
    assert found == dataclasses.replace(
        mine,
        seeds=SeedConfig(max_seeds=60, candidates=60),
        context=ContextConfig(order="time", min_relevance=0.1),
    )
    assert mine.overridden({}) == mine


def test_the_number_of_seeds_changes_the_search_of_the_strategy_that_is_given_with_it() -> None:
    found = RetrieverConfig().overridden({"strategy": AnchorSpreading(), "max_seeds": 2})
    assert found.seed_search == dataclasses.replace(AnchorSpreading().seeds, max_seeds=2)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"max_seeds": "3"}, "max_seeds must be a whole number"),
        ({"max_seeds": 101}, "max_seeds must be .*1.*100.*101"),
        ({"min_relevance": 1.5}, r"min_relevance must be in \[0.0, 1.0\], got 1.5"),
        ({"strategy": "transfer"}, "strategy must be an object"),
        ({"as_of": 7}, "as_of must be a datetime"),
        ({"time_zone": "Mars"}, "time_zone 'Mars' is not known: give a name such as Europe"),
        ({"budget": 500}, "no setting 'budget': there are budget_tokens, deadline_s"),
    ],
)
def test_a_single_setting_is_checked_as_a_callers_input(setting: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        RetrieverConfig().overridden(setting)
    assert caught.value.field in setting


def test_an_error_about_one_argument_names_it() -> None:
    same: Any = list
    one: Any = 1
    wrong: list[tuple[str, Callable[[], Any]]] = [
        ("threads", lambda: OnnxEmbedder(threads=0)),
        ("model", lambda: OnnxEmbedder("none")),
        ("model", lambda: SentenceTransformerEmbedder("")),
        ("batch_size", lambda: SentenceTransformerEmbedder(batch_size=0)),
        ("name", lambda: CallableEmbedder(same, name="", dimensions=3)),
        (
            "query_function",
            lambda: CallableEmbedder(same, query_function=one, name="a", dimensions=3),
        ),
        ("learn", lambda: check_learn("x", None)),
        ("language", lambda: RuleExtractor(language="latin")),
        ("weights", lambda: RuleExtractor(weights={one: 1})),
        ("uri", lambda: Target(uri="localhost", auth=None)),
        ("auth", lambda: Target(uri="bolt://localhost:7687", auth=one)),
        ("strategy", lambda: exploration_from({"strategy": "x"})),
        ("as_of", lambda: exploration_from({"as_of": "x"})),
        ("folds", lambda: check_folds([], EvaluationConfig(), 1)),
        ("version", lambda: whole_version("1")),
    ]
    for field, call in wrong:
        with pytest.raises(ConfigError) as caught:
            call()
        assert caught.value.field == field
