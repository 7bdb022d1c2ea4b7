"""Turn settings into plain data, so that a trace can hold them, and back.

In: a `RetrieverConfig`, or plain data. Out: maps, or a `RetrieverConfig` to explore with.
Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from memoria._support.wording import value_of
from memoria.errors import ConfigError
from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import STRATEGIES, Strategy, TransferEnergy

#: Settings of an exploration besides those of its strategy.
_OF_THE_CALL = ("max_weight", "seeds_per_session", "as_of", "include_outdated", "situation")


def settings_of(config: RetrieverConfig) -> dict[str, Any]:
    """Return the settings that decide what a recall finds, by stage.

    The strategy is a map of its ``name`` and its settings; ``seeds`` are the settings that the
    search had.
    """
    strategy = config.strategy
    return {
        "strategy": {
            "name": strategy.name,
            **(_values(strategy) if is_dataclass(strategy) else {}),
        },
        "seeds": _values(config.seed_search),
        "relevance": None if config.relevance is None else _values(config.relevance),
        "history": None if config.history is None else _values(config.history),
        "context": _values(config.context),
        "max_weight": config.max_weight,
        "seeds_per_session": config.seeds_per_session,
        "deadline_s": config.deadline_s,
        "budget_tokens": config.budget_tokens,
        "as_of": _plain(config.as_of),
        "time_phrases": config.time_phrases,
        "time_zone": _plain(config.time_zone),
        "include_outdated": config.include_outdated,
        "situation": dict(config.situation),
        "roles": _values(config.roles),
    }


def exploration_from(
    settings: Mapping[str, Any], changes: Mapping[str, Any] | None = None
) -> RetrieverConfig:
    """Return plain settings as far as an exploration follows them; the others are the default ones.

    Parameters
    ----------
    settings
        Settings as `settings_of` returns them; a missing setting gets its default.
    changes
        New values for some settings: ``strategy`` by name or as an object, a setting of the
        strategy, such as ``strategy.leak_rate``, or one of ``max_weight``, ``seeds_per_session``,
        ``as_of``, ``include_outdated``, ``situation``.

    Raises
    ------
    ConfigError
        A name or a value is not valid, or the strategy is not one of memoria's.
    """
    values = {name: settings[name] for name in ("strategy", *_OF_THE_CALL) if name in settings}
    own: dict[str, Any] = {}
    for name, value in (changes or {}).items():
        stage, _, setting = name.rpartition(".")
        if stage == "strategy":
            own[setting] = value
        elif name == "strategy" or name in _OF_THE_CALL:
            values[name] = value
        else:
            known = ("strategy", "strategy.SETTING", *_OF_THE_CALL)
            raise ConfigError(f"no setting {name}: there are {', '.join(known)}", field=name)
    strategy = _strategy_from(values.pop("strategy", TransferEnergy.name), own)
    values["as_of"] = _from_plain("as_of", values.get("as_of"), is_time=True)
    return RetrieverConfig(strategy=strategy, **values)


def _strategy_from(value: object, changes: Mapping[str, Any]) -> Strategy:
    """Return a strategy by its name, from a map of its name and settings, or as it is."""
    if isinstance(value, Strategy) and not isinstance(value, type):
        standard, given = value, dict(changes)
    else:
        given = dict(value) if isinstance(value, Mapping) else {"name": value}
        name = given.pop("name", None)
        if not isinstance(name, str) or name not in STRATEGIES:
            raise ConfigError(
                f"the strategy {value_of(name)} is not known: choose one of "
                f"{', '.join(STRATEGIES)}, or, from Python, give one of your own as an object",
                field="strategy",
            )
        standard = STRATEGIES[name]
        given.update(changes)
    if not given:
        return standard
    known = tuple(each.name for each in fields(standard)) if is_dataclass(standard) else ()
    if unknown := sorted(set(given) - set(known)):
        raise ConfigError(
            f"the strategy {standard.name} has no setting {', '.join(unknown)}: "
            f"there are {', '.join(known)}"
        )
    times = {field.name for field in fields(standard) if "datetime" in str(field.type)}  # type: ignore[arg-type]
    values = {key: _from_plain(key, each, is_time=key in times) for key, each in given.items()}
    return replace(standard, **values)  # type: ignore[type-var]


def _values(config: Any) -> dict[str, Any]:
    """Return the fields of settings as JSON values: lists for tuples, texts for times."""
    return {field.name: _plain(getattr(config, field.name)) for field in fields(config)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tzinfo):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return dict(value) if isinstance(value, Mapping) else value


def _from_plain(name: str, value: Any, *, is_time: bool) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if not is_time or not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError as exc:
        raise ConfigError(
            f"{value!r:.80} is not a time: write it as 2026-05-02T18:00+00:00", field=name
        ) from exc
