"""Read what people have said elsewhere: exports of chats, as conversations."""

from memoria.importers.chats.chatgpt import read_chatgpt
from memoria.importers.chats.claude import read_claude
from memoria.importers.chats.detect import FORMATS, detect_format
from memoria.importers.chats.lists import read_langchain, read_openai
from memoria.importers.chats.memory_server import read_memory_server
from memoria.importers.chats.messages import read_messages
from memoria.importers.chats.slack import read_slack

__all__ = [
    "FORMATS",
    "detect_format",
    "read_chatgpt",
    "read_claude",
    "read_langchain",
    "read_memory_server",
    "read_messages",
    "read_openai",
    "read_slack",
]
