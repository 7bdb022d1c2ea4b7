"""Frozen data types, one step of the way each: memories, paths, results."""

from memoria.types.links import LinkReport, MemoryLinker
from memoria.types.memory import Memory, MemoryNode, Relation
from memoria.types.paths import (
    Direction,
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
    "ContextItem",
    "ContextPack",
    "Direction",
    "EndReason",
    "Exploration",
    "ExplorationStats",
    "Hop",
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
    "Trace",
    "path_order",
]
