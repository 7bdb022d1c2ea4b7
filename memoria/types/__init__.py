"""Frozen data types, one step of the way each: memories, paths, results."""

from memoria.types.activation import Activation, Contribution, Direction
from memoria.types.conversation import ROLES, Conversation, Message, Role
from memoria.types.document import Document, Item, Section
from memoria.types.explorations import Exploration, ExplorationStats, Status
from memoria.types.filters import MemoryFilter, filter_of, metadata_pairs
from memoria.types.found import FoundMemories, MemoryPage, Neighbour, Neighbourhood, PathProperties
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
    LearningKind,
    LearnReport,
    LoggedChange,
    LoggedEvent,
    SuppressionKind,
    UndoReport,
)
from memoria.types.memory import Memory, MemoryNode, Relation
from memoria.types.paths import Edge, EndReason, Hop, Path, Seed, Seeds, path_order
from memoria.types.remembered import Remembered
from memoria.types.reports import (
    ConversationReport,
    Count,
    DocumentReport,
    ForgetReport,
    ImportReport,
    LinkReport,
    MemoryLinker,
    ScopeReceipt,
    WriteReport,
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
from memoria.types.roles import RelationRoles
from memoria.types.window import TimeWindow

__all__ = [
    "EDGE_HISTORY",
    "MEMORY_HISTORY",
    "MEMORY_PROPERTIES",
    "ROLES",
    "Activation",
    "CoActivation",
    "ConsolidateReport",
    "ContextItem",
    "ContextPack",
    "Contribution",
    "Conversation",
    "ConversationReport",
    "Count",
    "Direction",
    "Document",
    "DocumentReport",
    "Edge",
    "EdgeChange",
    "EdgeHistory",
    "EndReason",
    "Exploration",
    "ExplorationStats",
    "ForgetReport",
    "FoundMemories",
    "HistoryItem",
    "Hop",
    "ImportReport",
    "Item",
    "LearnReport",
    "LearningKind",
    "LinkReport",
    "LoggedChange",
    "LoggedEvent",
    "Memory",
    "MemoryFilter",
    "MemoryHistory",
    "MemoryLinker",
    "MemoryNode",
    "MemoryPage",
    "Message",
    "Neighbour",
    "Neighbourhood",
    "OmitReason",
    "OmittedItem",
    "Path",
    "PathProperties",
    "RankedMemory",
    "Recall",
    "Relation",
    "RelationRoles",
    "Remembered",
    "Role",
    "ScopeClock",
    "ScopeReceipt",
    "Section",
    "Seed",
    "Seeds",
    "Status",
    "Suppression",
    "SuppressionKind",
    "TimeWindow",
    "Trace",
    "UndoReport",
    "WriteReport",
    "filter_of",
    "metadata_pairs",
    "path_order",
]
