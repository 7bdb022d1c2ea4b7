"""Make a graph of texts: conversations, documents, single sentences; no language model."""

from memoria.remember.config import ConversationConfig
from memoria.remember.conversations import (
    DEFAULT_EXTRACTOR,
    ConversationOptions,
    ConversationWriter,
)
from memoria.remember.documents import (
    DOCUMENT_EXTRACTOR,
    DocumentConfig,
    DocumentOptions,
    DocumentWriter,
)
from memoria.remember.importing import ImportWriter
from memoria.remember.mentions import Extractor, Mention
from memoria.remember.rules import RuleExtractor

__all__ = [
    "DEFAULT_EXTRACTOR",
    "DOCUMENT_EXTRACTOR",
    "ConversationConfig",
    "ConversationOptions",
    "ConversationWriter",
    "DocumentConfig",
    "DocumentOptions",
    "DocumentWriter",
    "Extractor",
    "ImportWriter",
    "Mention",
    "RuleExtractor",
]
