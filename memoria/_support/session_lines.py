"""Read a line of the session that a coding agent keeps: who said what.

In: the object of a line, as Claude Code or Codex writes it. Out: a `Said`. Pure, and quick to load,
since a hook waits for it.

Calls of tools, their results and thoughts are left out, and so are texts that the host puts into
the mouth of the user.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# The tags of hosts are of several words, those of HTML are not: <system-reminder>, <div>.
_OF_THE_HOST = re.compile(
    r"\s*(?:<(?P<tag>[a-z]+[-_][\w-]{0,80})(?:[ \t][^<>\n]{0,500})?>|# AGENTS\.md instructions |"
    r"\[Request interrupted by user[\w ]{0,20}\]\s*\Z)"
)
_ARGUMENTS = "command-args"
_COMMAND = re.compile(r"<command-name>([^<>\n]{1,200})</command-name>")
_TEXTS = ("text", "input_text", "output_text")
#: Kinds of blocks -> why they are left out.
BLOCKS = {
    "tool_use": "tool call",
    "tool_result": "result of a tool",
    "thinking": "thoughts",
    "redacted_thinking": "thoughts",
    "image": "picture",
    "input_image": "picture",
    "image_url": "picture",
    "image_asset_pointer": "picture",
    "input_audio": "recording",
    "audio_asset_pointer": "recording",
    "document": "file",
    "file": "file",
    "input_file": "file",
}
#: Kinds of lines of Codex -> why they are left out.
_ITEMS = {
    "reasoning": "thoughts",
    "function_call": "tool call",
    "custom_tool_call": "tool call",
    "local_shell_call": "tool call",
    "web_search_call": "tool call",
    "function_call_output": "result of a tool",
    "custom_tool_call_output": "result of a tool",
}


@dataclass(slots=True)
class Said:
    """What a line of a session says.

    Attributes
    ----------
    role, text
        Who said what; no text: nobody said anything.
    id
        Id of the message; None: it has none.
    reasons
        Why parts of the line were left out.
    """

    role: Literal["user", "assistant"] = "user"
    text: str = ""
    id: str | None = None
    reasons: list[str] = field(default_factory=list)


def said_to_claude_code(line: Mapping[str, Any]) -> Said:
    """Read a line of Claude Code."""
    message = line.get("message")
    if line.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return Said()
    if line.get("isMeta") or line.get("isCompactSummary") or line.get("isApiErrorMessage"):
        return Said(reasons=["internal"])
    if line.get("isSidechain"):
        return Said(reasons=["message between agents"])
    return _said(message, line.get("uuid"))


def said_to_codex(line: Mapping[str, Any]) -> Said:
    """Read a line of Codex; its older sessions have no envelope around a message."""
    item = line.get("payload") if line.get("type") == "response_item" else line
    if not isinstance(item, dict):
        return Said()
    kind = item.get("type")
    if kind != "message":
        reason = _ITEMS.get(kind) if isinstance(kind, str) else None
        return Said(reasons=[reason] if reason else [])
    return _said(item, line.get("uuid"))


def _said(message: Mapping[str, Any], id_: object) -> Said:
    role, content = message.get("role"), message.get("content")
    said = Said(role="assistant" if role == "assistant" else "user")
    said.id = id_ if isinstance(id_, str) and id_ else None
    if role not in ("user", "assistant"):
        said.reasons.append("internal")
        return said
    texts = [content] if isinstance(content, str) else []
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in _TEXTS and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif isinstance(kind, str) and kind in BLOCKS:
            said.reasons.append(BLOCKS[kind])
    if said.role == "user":
        own = [_without_host(text) for text in texts]
        said.reasons += ["internal"] * (own != texts)
        texts = own
    said.text = "\n\n".join(filter(None, texts)).strip()
    return said


def _without_host(text: str) -> str:
    """Return what a user said of a text that begins with words of the host.

    >>> _without_host("<system-reminder>Be brief.</system-reminder> Why?")
    'Why?'
    >>> _without_host("<command-name>/review</command-name><command-args>the gate</command-args>")
    '/review the gate'
    """
    place, asked = 0, ""
    while (found := _OF_THE_HOST.match(text, place)) is not None:
        if found["tag"] is None:  # a file of instructions, or an interruption
            return ""
        begin, mark = found.end(), f"</{found['tag']}>"
        if (end := text.find(mark, begin)) < 0:  # hosts close their tags
            break
        asked = text[begin:end].strip() if found["tag"] == _ARGUMENTS else asked
        place = end + len(mark)
    if asked and (command := _COMMAND.search(text, 0, place)):
        asked = f"{command[1]} {asked}"
    return "\n\n".join(filter(None, (asked, text[place:].strip()))) if place else text
