"""Turn settings into plain data, so that a trace can hold them, and back.

In: a `RetrieverConfig`, or plain data. Out: maps, or the settings of an exploration.
Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from typing import Any

from memoria.config import RetrieverConfig
from memoria.errors import ConfigError
from memoria.strategies import STRATEGIES
from memoria.strategies.config import AnyStrategy, ExploreConfig


def settings_of(config: RetrieverConfig) -> dict[str, Any]:
    """Return the settings that decide what a recall finds, by stage.

    Settings of the store are left out. A strategy object becomes a map of its ``name`` and its
    settings.
    """
    return {
        "seeds": _values(config.seeds),
        "explore": {
            **_values(config.explore),
            "strategy": _plain_strategy(config.explore.strategy),
        },
        "context": _values(config.context),
        "relevance": None if config.relevance is None else _values(config.relevance),
        "deadline_s": config.deadline_s,
        "budget_tokens": config.budget_tokens,
    }


def explore_config_from(
    settings: Mapping[str, Any], changes: Mapping[str, Any] | None = None
) -> ExploreConfig:
    """Return the settings of an exploration from the ``explore`` part of plain settings.

    Parameters
    ----------
    settings
        Settings as `settings_of` returns them; a missing setting gets its default.
    changes
        New values for some settings: ``max_depth``, ``strategy``, or a setting of the strategy such
        as ``strategy.leak_rate``.

    Raises
    ------
    ConfigError
        A name or a value is not valid, or the strategy is not one of memoria's.
    """
    stage_settings = settings.get("explore", {})
    if not isinstance(stage_settings, Mapping):
        raise ConfigError(
            "explore must be a map of settings: use the settings of a trace unchanged"
        )
    values = dict(stage_settings)
    own: dict[str, Any] = {}
    for name, value in (changes or {}).items():
        stage, _, setting = name.rpartition(".")
        if stage not in ("", "strategy"):
            raise ConfigError(f"no setting {name}: there are {', '.join(_names(ExploreConfig))}")
        (own if stage else values)[setting] = value
    strategy = _strategy_from(values.pop("strategy", "transfer"), own)
    if unknown := sorted(set(values) - set(_names(ExploreConfig))):
        raise ConfigError(
            f"no setting {', '.join(unknown)}: there are {', '.join(_names(ExploreConfig))}"
        )
    return replace(ExploreConfig(strategy=strategy), **values)


def _strategy_from(value: object, own: Mapping[str, Any]) -> str | AnyStrategy:
    """Return a strategy by its name, or a strategy object with its own settings."""
    given = dict(value) if isinstance(value, Mapping) else {"name": value}
    name = given.pop("name", None)
    if not isinstance(name, str) or name not in STRATEGIES:
        raise ConfigError(
            f"the strategy {name!r:.80} is not known: choose one of {', '.join(STRATEGIES)}"
        )
    given.update(own)
    if not given:
        return name
    standard = STRATEGIES[name]
    known = _names(standard) if is_dataclass(standard) else ()
    if unknown := sorted(set(given) - set(known)):
        raise ConfigError(f"the strategy {name} has no setting {', '.join(unknown)}")
    times = {field.name for field in fields(standard) if "datetime" in str(field.type)}  # type: ignore[arg-type]
    values = {key: _from_plain(each, is_time=key in times) for key, each in given.items()}
    return replace(standard, **values)  # type: ignore[type-var]


def _plain_strategy(strategy: str | AnyStrategy) -> str | dict[str, Any]:
    if isinstance(strategy, str):
        return strategy
    return {"name": strategy.name, **(_values(strategy) if is_dataclass(strategy) else {})}


def _values(config: Any) -> dict[str, Any]:
    """Return the fields of settings as JSON values: lists for tuples, texts for times."""
    return {field.name: _plain(getattr(config, field.name)) for field in fields(config)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return dict(value) if isinstance(value, Mapping) else value


def _from_plain(value: Any, *, is_time: bool) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if not is_time or not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError as exc:
        raise ConfigError(
            f"{value!r:.80} is not a time: write it as 2026-05-02T18:00+00:00"
        ) from exc


def _names(config: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(config))
