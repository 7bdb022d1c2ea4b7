"""Graph retrieval for the memory of AI agents, on Neo4j.

>>> from memoria import connect, Seed  # and go on at `connect`
"""

from memoria._support.stream import Stream
from memoria.config import RetrieverConfig
from memoria.connection import connect
from memoria.context import ContextBuilder, pack
from memoria.context.config import ContextConfig
from memoria.embed import (
    CachedEmbedder,
    CallableEmbedder,
    Embedder,
    OnnxEmbedder,
    SentenceTransformerEmbedder,
)
from memoria.errors import (
    AuthError,
    BudgetError,
    ClosedError,
    ConfigError,
    DeadlineError,
    DimensionError,
    IndexNotReadyError,
    InvalidInputError,
    LocalServerError,
    MemoriaError,
    OverloadedError,
    QueryError,
    ScopeError,
    UnavailableError,
)
from memoria.graph.schema import apply_schema
from memoria.ingest import GraphWriter
from memoria.learn import LearnConfig, Learner, is_more_specific
from memoria.link import CompositeLinkConfig, Linker, SimilarityLinkConfig
from memoria.ranking.calibration import Calibration
from memoria.ranking.config import RelevanceConfig
from memoria.ranking.history import HistoryConfig
from memoria.recall.replay import PathChange, Replay, replay
from memoria.retriever import GraphRetriever
from memoria.seeds.config import SeedConfig
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.strategies import AnchorSpreading, LeakyIntegrateAndFire, Synapse, TransferEnergy
from memoria.types import (
    ContextPack,
    Exploration,
    Hop,
    Memory,
    MemoryNode,
    Path,
    RankedMemory,
    Recall,
    Relation,
    Seed,
    Seeds,
    Trace,
)

__all__ = [
    "AnchorSpreading",
    "AuthError",
    "BudgetError",
    "CachedEmbedder",
    "Calibration",
    "CallableEmbedder",
    "ClosedError",
    "CompositeLinkConfig",
    "ConfigError",
    "ContextBuilder",
    "ContextConfig",
    "ContextPack",
    "DeadlineError",
    "DimensionError",
    "Embedder",
    "Exploration",
    "GraphRetriever",
    "GraphWriter",
    "HistoryConfig",
    "Hop",
    "IndexNotReadyError",
    "InvalidInputError",
    "LeakyIntegrateAndFire",
    "LearnConfig",
    "Learner",
    "Linker",
    "LocalServerError",
    "MemoriaError",
    "Memory",
    "MemoryNode",
    "OnnxEmbedder",
    "OverloadedError",
    "Path",
    "PathChange",
    "QueryError",
    "RankedMemory",
    "Recall",
    "Relation",
    "RelevanceConfig",
    "Replay",
    "RetrieverConfig",
    "ScopeError",
    "Seed",
    "SeedConfig",
    "Seeds",
    "SentenceTransformerEmbedder",
    "SimilarityLinkConfig",
    "Store",
    "StoreConfig",
    "Stream",
    "Synapse",
    "Trace",
    "TransferEnergy",
    "UnavailableError",
    "apply_schema",
    "connect",
    "is_more_specific",
    "pack",
    "replay",
]
