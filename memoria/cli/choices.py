"""Options that choose a strategy, its settings, and the weights of the ranking.

In: arguments. Out: settings of a recall or an exploration. Reads the file of weights that is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from memoria.cli.common import pairs_of
from memoria.recall.config import RetrieverConfig
from memoria.recall.plain_settings import exploration_from
from memoria.recall.ranking.config import RelevanceConfig
from memoria.recall.strategies import STRATEGIES, TransferEnergy

StrategyName = Annotated[
    str, typer.Option("--strategy", help=f"How energy moves: {', '.join(STRATEGIES)}.")
]
Weights = Annotated[
    str,
    typer.Option(
        "--relevance",
        help="Name of a profile, such as default; none (rank by energy); or a file of weights.",
    ),
]


def exploration_config(
    strategy: str, transfer: Mapping[str, Any], settings: Sequence[str] | None
) -> RetrieverConfig:
    """Return the settings of an exploration.

    Parameters
    ----------
    transfer
        Settings of transfer energy that have options of their own; None: not given.
    settings
        ``name=value``, as `replay` takes them.
    """
    if strategy not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise typer.BadParameter(f"{strategy!r} is not one of {known}", param_hint="--strategy")
    given = {name: value for name, value in transfer.items() if value is not None}
    if given and strategy != TransferEnergy.name:
        raise typer.BadParameter(
            f"{strategy} has no {' and no '.join(given)}: leave it out", param_hint="--strategy"
        )
    changes = {f"strategy.{name}": value for name, value in given.items()}
    return exploration_from({"strategy": strategy}, changes | pairs_of(settings, "--set"))


def weights_named(relevance: str) -> RelevanceConfig | None:
    """Return the weights that ``--relevance`` names; None for a ranking by energy."""
    profiles = RelevanceConfig.profiles()
    if relevance == "none":
        return None
    if relevance in profiles:
        return RelevanceConfig.profile(relevance)
    if _is_file(relevance):
        return RelevanceConfig.load(relevance)
    raise typer.BadParameter(
        f"{relevance!r} is neither a file nor one of {', '.join(profiles)}, none",
        param_hint="--relevance",
    )


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # the name is too long for any file
        return False
