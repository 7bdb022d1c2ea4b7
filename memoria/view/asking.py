"""What a page asks of a recall: words, tags, scope, strategy and settings.

In: the JSON of a request. Out: `Question`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from memoria._support import checks
from memoria.errors import ConfigError
from memoria.recall.call import AUTO, QueryTags
from memoria.recall.config import RetrieverConfig
from memoria.recall.plain_settings import exploration_from, settings_of
from memoria.recall.strategies import STRATEGIES
from memoria.serialize.from_plain import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of a recall.

    Attributes
    ----------
    query, query_tags
        As in `GraphRetriever.recall`.
    """

    query: str
    query_tags: QueryTags
    scope: str
    config: RetrieverConfig


def question_from(data: object) -> Question:
    """Read what a page asks.

    Raises
    ------
    InvalidInputError
        A field is missing or not valid.
    ConfigError
        A setting is not known, or out of its range.
    """
    part = Part(data, "")
    tags: QueryTags = AUTO if part.get("tags") == AUTO else part.strings("tags")
    return Question(
        query=part.string("query"),
        query_tags=tags,
        scope=checks.check_scope(part.get("scope")),
        config=_config(part),
    )


def changes_from(data: object) -> Mapping[str, Any]:
    """Read the settings that a replay is to change."""
    return dict(Part(data, "").part("changes").value)


def strategies() -> Mapping[str, Mapping[str, Any]]:
    """Return the settings of each strategy by its name, with their default values."""
    found = {}
    for name, strategy in STRATEGIES.items():
        settings = dict(settings_of(RetrieverConfig(strategy=strategy))["strategy"])
        settings.pop("name")
        found[name] = settings
    return found


def _config(part: Part) -> RetrieverConfig:
    settings = part.part("settings").value
    try:
        config = exploration_from({"strategy": part.string("strategy")}, settings)
    except TypeError as exc:  # a value of a kind that the setting can't be compared with
        raise ConfigError(f"a setting has a value of the wrong kind: {exc}") from exc
    budget = part.optional("budget_tokens", part.whole)
    deadline_s = part.optional("deadline_s", part.number)
    return replace(
        config,
        budget_tokens=config.budget_tokens if budget is None else budget,
        deadline_s=config.deadline_s if deadline_s is None else deadline_s,
    )
