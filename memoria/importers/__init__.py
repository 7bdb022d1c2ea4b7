"""Read what other programs have: exports of chats, folders of notes. Nothing is written here.

In: files. Out: conversations and documents, or the memories and relations of a memory server.
"""

from memoria.importers.chats import (
    FORMATS,
    detect_format,
    read_chatgpt,
    read_claude,
    read_langchain,
    read_memory_server,
    read_messages,
    read_openai,
    read_slack,
)
from memoria.importers.notes import read_notes

__all__ = [
    "FORMATS",
    "detect_format",
    "read_chatgpt",
    "read_claude",
    "read_langchain",
    "read_memory_server",
    "read_messages",
    "read_notes",
    "read_openai",
    "read_slack",
]
