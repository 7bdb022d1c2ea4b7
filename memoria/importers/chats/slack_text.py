"""Turn a text with Slack's marks into a text for people.

In: a text or blocks, and the names of users and channels. Out: a text. Pure.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

#: Blocks may hold blocks, but not as deep as somebody may nest JSON.
_MAX_DEPTH = 10
#: Field of a block that stands for a word -> the kind of such blocks, and the mark.
_MARKED = {
    "user_id": ("user", "<@{}>"),
    "channel_id": ("channel", "<#{}>"),
    "range": ("broadcast", "<!{}>"),
    "name": ("emoji", ":{}:"),
}
_MARK = re.compile(r"<([^<>]*)>")


def readable(text: str, users: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """Replace ids by names, and marks by labels.

    Parameters
    ----------
    users, channels
        Names by ids; a name in the mark itself stands in for one that is missing.

    >>> readable("<@U1> &amp; <!here>: <https://a.example|the page>", {"U1": "Mo"}, {})
    '@Mo & @here: the page (https://a.example)'
    """

    def shown(match: re.Match[str]) -> str:
        target, _, label = match[1].partition("|")
        sign, name = target[:1], target[1:]
        if sign == "@":
            return f"@{users.get(name) or label or name}"
        if sign == "#":
            return f"#{label or channels.get(name) or name}"
        if sign == "!":
            return label or f"@{name.partition('^')[0]}"
        address = target.removeprefix("mailto:")
        return address if label in ("", address, target) else f"{label} ({address})"

    return html.unescape(_MARK.sub(shown, text))


def text_of_blocks(blocks: object) -> str:
    """Return the text of blocks, with the marks that `readable` reads.

    >>> text_of_blocks([{"type": "header", "text": {"type": "plain_text", "text": "Frost"}}])
    'Frost'
    """
    return "\n".join(filter(None, (_text_of(each, 0) for each in _maps(blocks))))


def _text_of(block: Mapping[str, Any], depth: int) -> str:
    """Return the text of a block, and of the blocks in it."""
    if depth > _MAX_DEPTH:
        return ""
    kind = str(block.get("type"))
    inner = [each for key in ("fields", "elements") for each in _maps(block.get(key))]
    texts = [_own_text(kind, block, depth), *(_text_of(each, depth + 1) for each in inner)]
    in_line = kind in ("rich_text_section", "rich_text_quote", "rich_text_preformatted")
    return ("" if in_line else "\n").join(filter(None, texts))


def _own_text(kind: str, block: Mapping[str, Any], depth: int) -> str:
    """Return the text of a block itself, as a message would have it."""
    text = block.get("text")
    if isinstance(text, dict):
        return _text_of(text, depth + 1)
    if kind == "link" and isinstance(block.get("url"), str):
        return f"<{block['url']}|{text}>" if isinstance(text, str) else f"<{block['url']}>"
    if isinstance(text, str):
        return text
    for key, mark in _MARKED.items():
        if kind == mark[0] and isinstance(block.get(key), str):
            return mark[1].format(block[key])
    return ""


def text_of_attachments(attachments: object) -> str:
    r"""Return the texts of attachments, such as those of an alert.

    >>> text_of_attachments([{"title": "Frost", "fields": [{"title": "Low", "value": "-3"}]}])
    'Frost\nLow: -3'
    """
    lines = []
    for each in _maps(attachments):
        said = [each.get(key) for key in ("pretext", "title", "text")]
        fields = _maps(each.get("fields"))
        said += [
            f"{one.get('title') or ''}: {one.get('value') or ''}".strip(": ") for one in fields
        ]
        said.append(text_of_blocks(each.get("blocks")))
        found = [text for text in said if isinstance(text, str) and text]
        lines += found or [text for text in [each.get("fallback")] if isinstance(text, str)]
    return "\n".join(lines)


def _maps(values: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list; nothing for any other value."""
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []
