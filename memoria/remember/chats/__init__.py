"""Read what people have said elsewhere: exports of chats, as conversations."""

from memoria.remember.chats.chatgpt import read_chatgpt
from memoria.remember.chats.claude import read_claude
from memoria.remember.chats.detect import FORMATS, detect_format
from memoria.remember.chats.lists import read_langchain, read_openai
from memoria.remember.chats.memory_server import read_memory_server
from memoria.remember.chats.messages import read_messages
from memoria.remember.chats.slack import read_slack

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
