"""Read what people have said elsewhere: exports of chats, and what other memories hold."""

from collections.abc import Callable, Iterator
from typing import Any

from memoria.importers.chats.chatgpt import read_chatgpt
from memoria.importers.chats.claude import read_claude
from memoria.importers.chats.detect import FORMATS, detect_format
from memoria.importers.chats.gemini import read_gemini
from memoria.importers.chats.letta import read_letta
from memoria.importers.chats.lists import read_langchain, read_openai
from memoria.importers.chats.mail import read_mbox
from memoria.importers.chats.memory_server import read_memory_server
from memoria.importers.chats.messages import read_messages
from memoria.importers.chats.sessions import read_claude_code, read_codex
from memoria.importers.chats.slack import read_slack
from memoria.importers.chats.stores import read_langgraph, read_mem0
from memoria.importers.chats.whatsapp import read_whatsapp

#: The reader of each format.
READERS: dict[str, Callable[..., Iterator[Any]]] = {
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "slack": read_slack,
    "openai": read_openai,
    "langchain": read_langchain,
    "messages": read_messages,
    "memory-server": read_memory_server,
    "claude-code": read_claude_code,
    "codex": read_codex,
    "gemini": read_gemini,
    "whatsapp": read_whatsapp,
    "mbox": read_mbox,
    "mem0": read_mem0,
    "letta": read_letta,
    "langgraph": read_langgraph,
}

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
    "read_openai",
    "read_slack",
    "read_whatsapp",
]
