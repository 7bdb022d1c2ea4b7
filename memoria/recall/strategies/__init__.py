"""How energy moves: one strategy a file, with its settings. `RetrieverConfig.strategy` has one."""

from collections.abc import Mapping

from memoria.recall.strategies._edges import Edge, edges_of, edges_step
from memoria.recall.strategies._joint import JointRun
from memoria.recall.strategies.anchor import AnchorSpreading
from memoria.recall.strategies.base import Outcome, RunInput, Step, Strategy, StrategyRun
from memoria.recall.strategies.lif import LeakyIntegrateAndFire
from memoria.recall.strategies.synapse import Synapse
from memoria.recall.strategies.transfer import TransferEnergy

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
