"""Frozen data types, one step of the way each: memories, paths, results."""

from memoria.types.activation import Activation, Contribution, Direction
from memoria.types.history import (
    EDGE_HISTORY,
    MEMORY_HISTORY,
    MEMORY_PROPERTIES,
    CoActivation,
    EdgeHistory,
    HistoryItem,
    MemoryHistory,
    ScopeClock,
    Suppression,
)
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
from memoria.types.writing import ForgetReport, WriteReport

__all__ = [
    "EDGE_HISTORY",
    "MEMORY_HISTORY",
    "MEMORY_PROPERTIES",
    "Activation",
    "CoActivation",
    "ConsolidateReport",
    "ContextItem",
    "ContextPack",
    "Contribution",
    "Direction",
    "EdgeChange",
    "EdgeHistory",
    "EndReason",
    "Exploration",
    "ExplorationStats",
    "ForgetReport",
    "HistoryItem",
    "Hop",
    "LearnReport",
    "LinkReport",
    "Memory",
    "MemoryHistory",
    "MemoryLinker",
    "MemoryNode",
    "OmitReason",
    "OmittedItem",
    "Path",
    "RankedMemory",
    "Recall",
    "Relation",
    "ScopeClock",
    "Seed",
    "Seeds",
    "Status",
    "Suppression",
    "SuppressionKind",
    "Trace",
    "UndoReport",
    "WriteReport",
    "path_order",
]
