"""Options that say which memories are meant: by kind, tags, time, metadata, or all but some.

In: arguments. Out: a `MemoryFilter`. Touches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from memoria.cli.common import pairs_of
from memoria.cli.groups import OptionGroup
from memoria.cli.holding import time_of
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.types import MemoryFilter

_KINDS = ", ".join(DEFAULT_KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtering(OptionGroup):
    """The options that make a `MemoryFilter`; a memory must fit all of them."""

    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND", help=f"Only memories of this kind ({_KINDS}); may be repeated."
        ),
    ] = None
    with_tag: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TAG", help="Only memories with this tag; repeated: with all of them."
        ),
    ] = None
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Only memories made then or later (ISO 8601)."),
    ] = None
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only memories made before this time.")
    ] = None
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="Only memories with this metadata; may be repeated."
        ),
    ] = None
    exclude_id: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Not this memory; may be repeated.")
    ] = None

    @property
    def where(self) -> MemoryFilter:
        """The filter that the options make."""
        return MemoryFilter(
            kinds=self.kind or None,
            tags=self.with_tag or (),
            created_from=None if self.since is None else time_of(self.since, "--since"),
            created_before=None if self.until is None else time_of(self.until, "--until"),
            metadata=pairs_of(self.metadata, "--metadata"),
            exclude_ids=self.exclude_id or (),
        )
