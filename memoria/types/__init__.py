"""Frozen data types, one step of the way each: memories, paths, results."""

from memoria.types.activation import Activation, Contribution, Direction
from memoria.types.learning import (
    ConsolidateReport,
    EdgeChange,
    LearnReport,
    SuppressionKind,
    UndoReport,
)
from memoria.types.links import LinkReport, MemoryLinker
from memoria.types.memory import Memory, MemoryNode, Relation
from memoria.types.paths import (
    EndReason,
    Exploration,
    ExplorationStats,
    Hop,
    Path,
    Seed,
    Seeds,
    Status,
    path_order,
)
from memoria.types.results import (
    ContextItem,
    ContextPack,
    OmitReason,
    OmittedItem,
    RankedMemory,
    Recall,
    Trace,
)

__all__ = [
    "Activation",
    "ConsolidateReport",
    "ContextItem",
    "ContextPack",
    "Contribution",
    "Direction",
    "EdgeChange",
    "EndReason",
    "Exploration",
    "ExplorationStats",
    "Hop",
    "LearnReport",
    "LinkReport",
    "Memory",
    "MemoryLinker",
    "MemoryNode",
    "OmitReason",
    "OmittedItem",
    "Path",
    "RankedMemory",
    "Recall",
    "Relation",
    "Seed",
    "Seeds",
    "Status",
    "SuppressionKind",
    "Trace",
    "UndoReport",
    "path_order",
]
