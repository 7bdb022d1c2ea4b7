"""Options that say which memories take part: ``--as-of``, ``--include-outdated``, ``--situation``.

In: arguments. Out: settings of a recall or an exploration. Touches nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

import typer

from memoria.config import RetrieverConfig

AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME",
        help="Ask for an earlier state: what was made, and held, at this time (ISO 8601).",
    ),
]
IncludeOutdated = Annotated[
    bool, typer.Option("--include-outdated", help="Let superseded and outdated memories take part.")
]
Situation = Annotated[
    list[str] | None,
    typer.Option(
        "--situation",
        metavar="KEY=VALUE",
        help="Leave out memories whose conditions contradict it; may be repeated.",
    ),
]


def with_holding(
    config: RetrieverConfig,
    as_of: str | None,
    include_outdated: bool,
    situation: Sequence[str] | None,
) -> RetrieverConfig:
    """Return the settings with those of the three options."""
    return replace(
        config,
        as_of=None if as_of is None else _time(as_of),
        include_outdated=include_outdated,
        situation=dict(map(_condition, situation or ())),
    )


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a time such as 2026-05-02T18:00+00:00", param_hint="--as-of"
        ) from None


def _condition(text: str) -> tuple[str, Any]:
    """Read ``key=value``; a value that is not JSON is a string."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise typer.BadParameter(f"{text!r} must be KEY=VALUE", param_hint="--situation")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
