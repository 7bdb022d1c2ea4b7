"""Graph retrieval for the memory of AI agents, on Neo4j.

>>> from memoria import connect, Seed  # and go on at `connect`
"""

from memoria.config import (
    ContextConfig,
    ExploreConfig,
    RetrieverConfig,
    SeedConfig,
    StoreConfig,
)
from memoria.connect import connect
from memoria.context import ContextBuilder, pack
from memoria.embed import (
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
from memoria.ingest import GraphWriter
from memoria.link import CompositeLinkConfig, Linker, SimilarityLinkConfig
from memoria.retriever import GraphRetriever
from memoria.schema import apply_schema
from memoria.store import Store
from memoria.strategies import AnchorSpread, LeakyIntegrateAndFire, Synapse, TransferEnergy
from memoria.stream import Stream
from memoria.types import (
    Activation,
    ContextItem,
    ContextPack,
    Contribution,
    Exploration,
    ExplorationStats,
    Hop,
    LinkReport,
    Memory,
    MemoryNode,
    OmittedItem,
    Path,
    RankedMemory,
    Recall,
    Relation,
    Seed,
    Seeds,
    Trace,
)
from memoria.weights import RelevanceConfig

__all__ = [
    "Activation",
    "AnchorSpread",
    "AuthError",
    "BudgetError",
    "CallableEmbedder",
    "ClosedError",
    "CompositeLinkConfig",
    "ConfigError",
    "ContextBuilder",
    "ContextConfig",
    "ContextItem",
    "ContextPack",
    "Contribution",
    "DeadlineError",
    "DimensionError",
    "Embedder",
    "Exploration",
    "ExplorationStats",
    "ExploreConfig",
    "GraphRetriever",
    "GraphWriter",
    "Hop",
    "IndexNotReadyError",
    "InvalidInputError",
    "LeakyIntegrateAndFire",
    "LinkReport",
    "Linker",
    "LocalServerError",
    "MemoriaError",
    "Memory",
    "MemoryNode",
    "OmittedItem",
    "OnnxEmbedder",
    "OverloadedError",
    "Path",
    "QueryError",
    "RankedMemory",
    "Recall",
    "Relation",
    "RelevanceConfig",
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
    "pack",
]
