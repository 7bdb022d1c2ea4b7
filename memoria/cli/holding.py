"""Options that say which memories take part: ``--as-of``, ``--include-outdated``, ``--situation``.

In: arguments. Out: settings of a recall or an exploration. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

import typer

from memoria.cli.groups import OptionGroup
from memoria.cli.pairs import pairs_of
from memoria.recall.config import RetrieverConfig

AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME",
        help="Ask for an earlier state: memories that were valid at this time (ISO 8601).",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePhrases(OptionGroup):
    """The options for time phrases in a question."""

    time_zone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE",
            help="Your time zone, such as Europe/Berlin; if not given, that of --as-of, or UTC.",
        ),
    ] = None
    no_time_phrases: Annotated[
        bool,
        typer.Option(
            "--no-time-phrases",
            help="Don't prefer memories from a time that the question names.",
        ),
    ] = False

    def over(self, config: RetrieverConfig) -> RetrieverConfig:
        """Return the settings, overridden by these options."""
        return replace(config, time_zone=self.time_zone, time_phrases=not self.no_time_phrases)


def with_holding(
    config: RetrieverConfig,
    as_of: str | None,
    include_outdated: bool,
    situation: Sequence[str] | None,
) -> RetrieverConfig:
    """Return the settings with those of the three options."""
    given: dict[str, Any] = {}
    if as_of is not None:
        given["as_of"] = time_of(as_of, "--as-of")
    if include_outdated:
        given["include_outdated"] = True
    if situation:
        given["situation"] = pairs_of(situation, "--situation")
    return replace(config, **given)


def time_of(text: str, option: str) -> datetime:
    """Read a time, given to this option."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a time such as 2026-05-02T18:00+00:00", param_hint=option
        ) from None
