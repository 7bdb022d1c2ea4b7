"""Options of the context that `recall` and `pack` share, and what is said if it is empty.

In: options, a `ContextPack`. Out: a `ContextConfig`, messages on standard error.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from memoria._support.wording import number_of
from memoria.cli.common import warn
from memoria.cli.groups import OptionGroup
from memoria.recall.config import RetrieverConfig
from memoria.recall.context.config import ContextConfig
from memoria.types import ContextPack

_DEFAULTS = ContextConfig()


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing(OptionGroup):
    """The options of the context."""

    budget: Annotated[
        int, typer.Option("--budget", min=1, metavar="TOKENS", help="Size of the context.")
    ] = RetrieverConfig().budget_tokens
    format_: Annotated[
        Literal["text", "markdown", "json"], typer.Option("--format", help="Form of the context.")
    ] = _DEFAULTS.format
    order: Annotated[
        Literal["relevance", "time"], typer.Option("--order", help="Order inside the context.")
    ] = _DEFAULTS.order
    names: Annotated[
        Literal["label", "id"], typer.Option("--names", help="How the context names a memory.")
    ] = _DEFAULTS.names
    min_relevance: Annotated[
        float,
        typer.Option(
            "--min-relevance",
            min=0.0,
            max=1.0,
            metavar="P",
            help="Lowest relevance, a probability, of a memory that a recall ranked.",
        ),
    ] = _DEFAULTS.min_relevance
    min_best_relevance: Annotated[
        float,
        typer.Option(
            "--min-best",
            min=0.0,
            max=1.0,
            metavar="P",
            help="Lowest relevance of the best memory; below it the context is empty.",
        ),
    ] = _DEFAULTS.min_best_relevance

    @property
    def config(self) -> ContextConfig:
        """The settings of the context."""
        return ContextConfig(
            format=self.format_,
            order=self.order,
            names=self.names,
            min_relevance=self.min_relevance,
            min_best_relevance=self.min_best_relevance,
        )

    def say_too_small(self, context: ContextPack) -> None:
        """Print a message if a context is empty because the budget is too small."""
        if _is_empty(context, "budget"):
            count = number_of(self.budget, "token")
            warn(f"nothing fits into {count}; --budget gives more")

    def say_irrelevant(self, context: ContextPack, relevance: Collection[float]) -> None:
        """Print a message if a context is empty because nothing is relevant enough.

        Parameters
        ----------
        relevance
            That of the memories of which it is known.
        """
        if relevance and not _is_empty(context, "budget") and _is_empty(context, "relevance"):
            best = f"the best memory has a relevance of {max(relevance):.2g}"
            how = "--min-best and --min-relevance set how relevant it must be"
            warn(f"nothing is relevant; {best}, and {how}")


def _is_empty(context: ContextPack, reason: str) -> bool:
    return not context.items and reason in context.omitted_by_reason
