"""How energy moves: one strategy a file, with its settings. `RetrieverConfig.strategy` has one."""

from collections.abc import Mapping

from memoria.strategies._edges import Edge, edges_of, edges_step
from memoria.strategies._joint import JointRun
from memoria.strategies.anchor import AnchorSpreading
from memoria.strategies.base import Outcome, RunInput, Step, Strategy, StrategyRun
from memoria.strategies.lif import LeakyIntegrateAndFire
from memoria.strategies.synapse import Synapse
from memoria.strategies.transfer import TransferEnergy

#: The strategies that traces and the command line know by name, with their default settings.
STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (TransferEnergy(), LeakyIntegrateAndFire(), AnchorSpreading(), Synapse())
}


__all__ = [
    "STRATEGIES",
    "AnchorSpreading",
    "Edge",
    "JointRun",
    "LeakyIntegrateAndFire",
    "Outcome",
    "RunInput",
    "Step",
    "Strategy",
    "StrategyRun",
    "Synapse",
    "TransferEnergy",
    "edges_of",
    "edges_step",
]
