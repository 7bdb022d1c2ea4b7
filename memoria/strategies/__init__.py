"""How energy moves; one strategy a file. Chosen by ``ExploreConfig.strategy``."""

from collections.abc import Mapping

from memoria.errors import ConfigError
from memoria.strategies._edges import Edge, edges_of, edges_step
from memoria.strategies._joint import JointRun
from memoria.strategies.anchor import AnchorSpreading
from memoria.strategies.base import Outcome, RunInput, Step, Strategy, StrategyRun
from memoria.strategies.config import ExploreConfig
from memoria.strategies.lif import LeakyIntegrateAndFire, NeuronField, propagate_from_seeds
from memoria.strategies.synapse import Synapse
from memoria.strategies.transfer import TransferEnergy

#: The strategies that settings may name.
STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (TransferEnergy(), LeakyIntegrateAndFire(), AnchorSpreading(), Synapse())
}


def strategy_of(config: ExploreConfig) -> Strategy:
    """Return the strategy that the settings name, or hold.

    Raises
    ------
    ConfigError
        The object is none.
    """
    chosen = config.strategy
    if isinstance(chosen, str):
        return STRATEGIES[chosen]
    if isinstance(chosen, type) or not isinstance(chosen, Strategy):
        raise ConfigError(f"strategy lacks what a Strategy has: {chosen!r:.100}")
    return chosen


__all__ = [
    "STRATEGIES",
    "AnchorSpreading",
    "Edge",
    "JointRun",
    "LeakyIntegrateAndFire",
    "NeuronField",
    "Outcome",
    "RunInput",
    "Step",
    "Strategy",
    "StrategyRun",
    "Synapse",
    "TransferEnergy",
    "edges_of",
    "edges_step",
    "propagate_from_seeds",
    "strategy_of",
]
