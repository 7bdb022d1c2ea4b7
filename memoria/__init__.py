"""Graph retrieval for the memory of AI agents, on Neo4j.

>>> from memoria import connect, Seed  # and go on at `connect`

A name is loaded from its module when it is first asked for: the command line and servers start
without the driver, numpy, and rooms that they don't need.
"""

# As in `typing`, which is not imported: a command that is interrupted before `memoria.__main__` has
# begun ends in a traceback, so as little as possible is loaded before.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from memoria._support.stream import Stream
    from memoria.agents.tools import tools
    from memoria.connection import connect
    from memoria.connection import open as open  # noqa: A004 - for `memoria.open`
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
        ChecksumError,
        ClosedError,
        ConfigError,
        DeadlineError,
        DimensionError,
        EmptyScopeError,
        IndexNotReadyError,
        InvalidInputError,
        LocalServerError,
        MappingError,
        MemoriaError,
        OverloadedError,
        QueryError,
        ScopeError,
        UnavailableError,
    )
    from memoria.graph.mapping import GraphMapping
    from memoria.graph.schema import apply_schema
    from memoria.importers import read_notes
    from memoria.ingest.reembed import (
        ReembedReport,
        finish_reembedding,
        reembed,
        roll_back_reembedding,
    )
    from memoria.learn import LearnConfig, Learner, is_more_specific
    from memoria.learn.link import CompositeLinkConfig, Linker, SimilarityLinkConfig
    from memoria.recall.config import RetrieverConfig
    from memoria.recall.context import ContextBuilder, pack
    from memoria.recall.context.config import ContextConfig
    from memoria.recall.ranking.calibration import Calibration
    from memoria.recall.ranking.config import RelevanceConfig
    from memoria.recall.ranking.history import HistoryConfig
    from memoria.recall.replay import PathChange, Replay, replay
    from memoria.recall.seeds.config import SeedConfig
    from memoria.recall.strategies import (
        AnchorSpreading,
        LeakyIntegrateAndFire,
        Synapse,
        TransferEnergy,
    )
    from memoria.remember import (
        ConversationConfig,
        ConversationWriter,
        DocumentConfig,
        DocumentWriter,
        Extractor,
        Mention,
        RuleExtractor,
    )
    from memoria.retriever import GraphRetriever
    from memoria.store import Store
    from memoria.store.config import StoreConfig
    from memoria.types import (
        ContextPack,
        Conversation,
        Document,
        Exploration,
        Hop,
        Memory,
        MemoryFilter,
        MemoryNode,
        Message,
        Path,
        RankedMemory,
        Recall,
        Relation,
        RelationRoles,
        Remembered,
        Section,
        Seed,
        Seeds,
        Trace,
    )
    from memoria.writer import GraphWriter

# The same once more, for run time: module -> public names. A test compares both.
_MODULES = {
    "memoria._support.stream": "Stream",
    "memoria.agents.tools": "tools",
    "memoria.recall.config": "RetrieverConfig",
    "memoria.connection": "connect open",
    "memoria.recall.context": "ContextBuilder pack",
    "memoria.recall.context.config": "ContextConfig",
    "memoria.embed": (
        "CachedEmbedder CallableEmbedder Embedder OnnxEmbedder SentenceTransformerEmbedder"
    ),
    "memoria.errors": (
        "AuthError BudgetError ChecksumError ClosedError ConfigError DeadlineError "
        "DimensionError EmptyScopeError IndexNotReadyError InvalidInputError LocalServerError "
        "MappingError MemoriaError OverloadedError QueryError ScopeError UnavailableError"
    ),
    "memoria.graph.schema": "apply_schema",
    "memoria.importers": "read_notes",
    "memoria.learn": "LearnConfig Learner is_more_specific",
    "memoria.learn.link": "CompositeLinkConfig Linker SimilarityLinkConfig",
    "memoria.graph.mapping": "GraphMapping",
    "memoria.recall.ranking.calibration": "Calibration",
    "memoria.recall.ranking.config": "RelevanceConfig",
    "memoria.recall.ranking.history": "HistoryConfig",
    "memoria.recall.replay": "PathChange Replay replay",
    "memoria.ingest.reembed": "ReembedReport finish_reembedding reembed roll_back_reembedding",
    "memoria.remember": (
        "ConversationConfig ConversationWriter DocumentConfig DocumentWriter Extractor "
        "Mention RuleExtractor"
    ),
    "memoria.retriever": "GraphRetriever",
    "memoria.recall.seeds.config": "SeedConfig",
    "memoria.store": "Store",
    "memoria.store.config": "StoreConfig",
    "memoria.recall.strategies": "AnchorSpreading LeakyIntegrateAndFire Synapse TransferEnergy",
    "memoria.types": (
        "ContextPack Conversation Document Exploration Hop Memory MemoryFilter MemoryNode "
        "Message Path RankedMemory Recall Relation RelationRoles Remembered Section Seed Seeds "
        "Trace"
    ),
    "memoria.writer": "GraphWriter",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

# Without `open`: `from memoria import *` must leave the built-in function of that name alone.
__all__ = [
    "AnchorSpreading",
    "AuthError",
    "BudgetError",
    "CachedEmbedder",
    "Calibration",
    "CallableEmbedder",
    "ChecksumError",
    "ClosedError",
    "CompositeLinkConfig",
    "ConfigError",
    "ContextBuilder",
    "ContextConfig",
    "ContextPack",
    "Conversation",
    "ConversationConfig",
    "ConversationWriter",
    "DeadlineError",
    "DimensionError",
    "Document",
    "DocumentConfig",
    "DocumentWriter",
    "Embedder",
    "EmptyScopeError",
    "Exploration",
    "Extractor",
    "GraphMapping",
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
    "MappingError",
    "MemoriaError",
    "Memory",
    "MemoryFilter",
    "MemoryNode",
    "Mention",
    "Message",
    "OnnxEmbedder",
    "OverloadedError",
    "Path",
    "PathChange",
    "QueryError",
    "RankedMemory",
    "Recall",
    "ReembedReport",
    "Relation",
    "RelationRoles",
    "RelevanceConfig",
    "Remembered",
    "Replay",
    "RetrieverConfig",
    "RuleExtractor",
    "ScopeError",
    "Section",
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
    "finish_reembedding",
    "is_more_specific",
    "pack",
    "read_notes",
    "reembed",
    "replay",
    "roll_back_reembedding",
    "tools",
]


if not TYPE_CHECKING:  # a type checker would take every name for one that is there

    def __getattr__(name):
        """Load a public name, or a room such as ``memoria.types``."""
        from importlib import import_module

        if name in _MODULE_OF:
            value = getattr(import_module(_MODULE_OF[name]), name)
            globals()[name] = value
            return value
        room = f"{__name__}.{name}"
        if not name.startswith("_"):
            try:
                return import_module(room)
            except ModuleNotFoundError as exc:
                if exc.name != room:
                    raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *_MODULE_OF})
