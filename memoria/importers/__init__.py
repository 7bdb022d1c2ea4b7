"""Read what other programs have: exports of chats, other memories, folders of notes.

In: files. Out: conversations, documents, memories and relations. Nothing is written here.
"""

from memoria.importers.chats.chatgpt import read_chatgpt
from memoria.importers.chats.claude import read_claude
from memoria.importers.chats.detect import FORMATS, READERS, detect_format
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
from memoria.importers.notes.folder import read_notes

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
