"""Read what other programs have: exports of chats, other memories, folders of notes.

In: files. Out: conversations, documents, memories and relations. Nothing is written here.
"""

from memoria.importers.chats import (
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
from memoria.importers.notes import read_notes

__all__ = [
    "FORMATS",
    "READERS",
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
