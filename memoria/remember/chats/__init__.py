"""Read what people have said elsewhere: exports of chats, and what other memories hold."""

from collections.abc import Callable, Iterator
from typing import Any

from memoria.remember.chats.chatgpt import read_chatgpt
from memoria.remember.chats.claude import read_claude
from memoria.remember.chats.detect import FORMATS, detect_format
from memoria.remember.chats.lists import read_langchain, read_openai
from memoria.remember.chats.memory_server import read_memory_server
from memoria.remember.chats.messages import read_messages
from memoria.remember.chats.slack import read_slack

#: The reader of each format.
READERS: dict[str, Callable[..., Iterator[Any]]] = {
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "slack": read_slack,
    "openai": read_openai,
    "langchain": read_langchain,
    "messages": read_messages,
    "memory-server": read_memory_server,
}

__all__ = [
    "FORMATS",
    "READERS",
    "detect_format",
    "read_chatgpt",
    "read_claude",
    "read_langchain",
    "read_memory_server",
    "read_messages",
    "read_openai",
    "read_slack",
]
