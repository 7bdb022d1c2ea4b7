"""Make a graph of what people have: conversations, notes, single sentences; no language model."""

from memoria.remember.chats import (
    FORMATS,
    READERS,
    detect_format,
    read_chatgpt,
    read_claude,
    read_claude_code,
    read_codex,
    read_gemini,
    read_langchain,
    read_langgraph,
    read_letta,
    read_mbox,
    read_mem0,
    read_memory_server,
    read_messages,
    read_openai,
    read_slack,
    read_whatsapp,
)
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
from memoria.remember.notes import read_notes
from memoria.remember.rules import RuleExtractor

__all__ = [
    "DEFAULT_EXTRACTOR",
    "DOCUMENT_EXTRACTOR",
    "FORMATS",
    "READERS",
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
    "detect_format",
    "read_chatgpt",
    "read_claude",
    "read_claude_code",
    "read_codex",
    "read_gemini",
    "read_langchain",
    "read_langgraph",
    "read_letta",
    "read_mbox",
    "read_mem0",
    "read_memory_server",
    "read_messages",
    "read_notes",
    "read_openai",
    "read_slack",
    "read_whatsapp",
]
