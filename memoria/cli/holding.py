"""Options that say which memories take part: ``--as-of``, ``--include-outdated``, ``--situation``.

In: arguments. Out: settings of a recall or an exploration. Touches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

import typer

from memoria.cli.common import pairs_of
from memoria.cli.groups import OptionGroup
from memoria.recall.config import RetrieverConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding(OptionGroup):
    """The options that say which state of the memories is asked for."""

    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="TIME",
            help="Ask for an earlier state: memories that were valid at this time (ISO 8601).",
        ),
    ] = None
    include_outdated: Annotated[
        bool,
        typer.Option("--include-outdated", help="Let superseded and outdated memories take part."),
    ] = False
    situation: Annotated[
        list[str] | None,
        typer.Option(
            "--situation",
            metavar="KEY=VALUE",
            help="Leave out memories whose conditions contradict it; may be repeated.",
        ),
    ] = None

    def over(self, config: RetrieverConfig) -> RetrieverConfig:
        """Return the settings, overridden by those of these options that are given."""
        given: dict[str, Any] = {}
        if self.as_of is not None:
            given["as_of"] = time_of(self.as_of, "--as-of")
        if self.include_outdated:
            given["include_outdated"] = True
        if self.situation:
            given["situation"] = pairs_of(self.situation, "--situation")
        return replace(config, **given)


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
            "--no-time-phrases", help="Don't prefer memories from a time that the question names."
        ),
    ] = False

    def over(self, config: RetrieverConfig) -> RetrieverConfig:
        """Return the settings, overridden by these options."""
        return replace(config, time_zone=self.time_zone, time_phrases=not self.no_time_phrases)


def time_of(text: str, option: str) -> datetime:
    """Read a time, given to this option."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a time such as 2026-05-02T18:00+00:00", param_hint=option
        ) from None
