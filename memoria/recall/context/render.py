r"""Write lines as plain text, Markdown or JSON.

In: lines, their names. Out: the text of each line, and the whole text. Touches nothing.

A text contains only information that a reader of the prompt can use: the label, speaker and words
of each memory; each day once, above its memories; and the relation that joins a memory to the one
above it, if the relation says more than both texts::

    2026-05-02:
    [1] Disk of build host 7 is full
      caused_by -> [2] 2026-04-30 assistant: Kept all build logs,
      | compressed, for a year
    [3] Tom: Why is the build red?

A statement that a newer one surely replaces names the newer one::

    [4] (older than [3]) user: My boss is Ann

In order of time, a line names the memory that it is joined to::

    2026-04-30:
    [2] caused_by -> [1] assistant: Kept all build logs

Where memories of several scopes are packed, those of one scope are grouped under its name::

    team, 2026-04-30:
    [5] Ann: Build logs are kept for a week

Kinds and energies would cost tokens, so only `ContextPack.items` has them. Every line of a text
after the first begins with ``|``, so that a text can't imitate another memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from memoria.recall.context.arrange import Line, headings_of
from memoria.recall.context.config import ContextConfig

# Characters that could begin or end an element of Markdown: anywhere, or at the start of a line.
_INLINE = re.compile(r"([\\`*_\[\]<>&~|])")
_BLOCK = re.compile(r"^(?:\d+(?=[.)])|(?=[#+\-=:]))")
_SURROGATE = re.compile("[\ud800-\udfff]")


def render(
    lines: Sequence[Line], names: Mapping[str, str], texts: Mapping[str, str], config: ContextConfig
) -> list[str]:
    """Return each line as text, with the heading above it if there is one.

    Parameters
    ----------
    names
        Id -> name of the memory in the text.
    texts
        Id -> text to show, whole or an excerpt.
    """
    if config.format == "json":
        return [_json(line, names, texts[line.one.id], config) for line in lines]
    nested = config.order == "relevance"
    headings = headings_of(lines, nested=nested)
    written = _text if config.format == "text" else _markdown
    return [
        written(line, heading, _head(line, day, names, config), texts[line.one.id], nested)
        for line, (heading, day) in zip(lines, headings, strict=True)
    ]


def join(lines: Iterable[str], config: ContextConfig) -> str:
    """Join the rendered lines into one text."""
    if config.format == "json":
        return "[" + ",\n".join(lines) + "]"
    return "\n".join(lines).lstrip("\n")


def _head(line: Line, day: str, names: Mapping[str, str], config: ContextConfig) -> str:
    """Return the start of a line, before the text: relation, name, day, speaker; no newlines."""
    name = "**{}**" if config.format == "markdown" else "[{}]"
    escape = _escape if config.format == "markdown" else str
    words = [name.format(escape(names[line.one.id]))]
    if line.reason is not None and line.above is not None:
        arrow = "->" if line.reason.direction == "out" else "<-"
        way = [escape(line.reason.relation), arrow]
        if config.order == "time":
            way.insert(0, name.format(escape(names[line.above.one.id])))
        words = [*way, *words]
    if line.one.newer is not None and line.one.newer in names:
        day = f"{day} (older than {name.format(escape(names[line.one.newer]))})"
    speaker = line.one.speaker
    words += [day, f"{escape(speaker)}:" if speaker else ""]
    return " ".join(" ".join(words).split())


def _text(line: Line, heading: str, head: str, text: str, nested: bool) -> str:
    pad = "  " * line.depth if nested else ""
    first, *others = [each for each in text.splitlines() if each.strip()]
    body = f"\n{pad}| ".join([f"{pad}{head} {first}", *others])
    return f"{heading}:\n{body}" if heading else body


def _markdown(line: Line, heading: str, head: str, text: str, nested: bool) -> str:
    pad = "  " * line.depth if nested else ""
    first, *others = [_escape(each.strip()) for each in text.splitlines() if each.strip()]
    begun = f"{pad}- {_escape_start(head)} {first}"
    body = f"\\\n{pad}  ".join([begun, *map(_escape_start, others)])
    return f"\n{_escape_start(_escape(heading))}:\n{body}" if heading else body


def _json(line: Line, names: Mapping[str, str], text: str, config: ContextConfig) -> str:
    entry: dict[str, object] = {config.names: names[line.one.id]}
    if line.one.scope:
        entry["scope"] = line.one.scope
    if line.one.day:
        entry["date"] = line.one.day
    if line.reason is not None and line.above is not None:
        entry["via"] = {
            "from": names[line.above.one.id],
            "relation": line.reason.relation,
            "direction": line.reason.direction,
        }
    if line.one.newer is not None and line.one.newer in names:
        entry["older_than"] = names[line.one.newer]
    if line.one.speaker:
        entry["speaker"] = line.one.speaker
    entry["text"] = text
    written = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    return _SURROGATE.sub(
        lambda half: f"\\u{ord(half[0]):04x}", written
    )  # UTF-8 can't hold a lone half


def _escape(text: str) -> str:
    return _INLINE.sub(r"\\\1", text)


def _escape_start(line: str) -> str:
    return _BLOCK.sub(lambda match: match[0] + "\\", line)
