r"""Write places as plain text, Markdown or JSON.

In: places, one by one. Out: the lines of each place, and the whole text.
Touches nothing.

A line holds what a reader of the prompt can use: the id to cite the memory by, its date, its text,
and the reason for it: the memories that led to it, from a seed down, and the names of connectors
between them. In the order of relevance, the tree shows the reason::

    [evt-040] 2026-05-02: Disk of build host 7 is full
      caused_by -> [act-012] 2026-04-30: Kept all build logs,
        | compressed, for a year
      mentions -> "build host 7" <- [evt-017] 2026-04-02: It got a new disk

In the order of time, each line names the memory that led to it::

    [evt-040] caused_by -> [act-012] 2026-04-30: Kept all build logs

Kinds and energies cost tokens and stand in `ContextPack.items` only. A text always stands behind a
colon and a note never does, so a text can't pass for a note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator

from memoria.context.config import ContextConfig
from memoria.context.tree import Place

# Characters that could begin or end an element of Markdown: anywhere, or at the start of a line.
_INLINE = re.compile(r"([\\`*_\[\]<>&~|])")
_BLOCK = re.compile(r"^(?:\d+(?=[.)])|(?=[#+\-=:]))")
# A connector may have any name, but a reason must stay short.
_MAX_NAME_CHARS = 60
_SURROGATE = re.compile("[\ud800-\udfff]")


def render_place(place: Place, config: ContextConfig) -> str:
    """Return the lines of one place: what led to it, what it is, and its text at its home."""
    if config.format == "json":
        return _json(place)
    tree = config.order == "relevance"
    pad = "  " * place.depth if tree else ""
    body = [] if _note(place) else [line for line in place.text.splitlines() if line.strip()]
    if config.format == "text":
        head = _head(place, name_source=not tree)
        return f"\n{pad}  | ".join([" ".join([pad + head, *body[:1]]), *body[1:]])
    head = _escape_start(_head(place, name_source=not tree, markdown=True))
    body = [_escape(line.strip()) for line in body]
    first = " ".join([f"{pad}- {head}", *body[:1]])
    return f"\\\n{pad}  ".join([first, *map(_escape_start, body[1:])])


def join(lines: Iterable[str], config: ContextConfig) -> str:
    """Put the lines of all places together."""
    if config.format == "json":
        return "[" + ",\n".join(lines) + "]"
    return "\n".join(lines)


def _head(place: Place, *, name_source: bool, markdown: bool = False) -> str:
    """Say what led to ``place`` and what it is, in one line even if names hold newlines."""
    escape, name = (_escape, "**{}**") if markdown else (str, "[{}]")
    words = [name.format(escape(place.id)), escape(_note(place)) or _date(place)]
    if not _note(place):  # the text follows
        words = [f"{' '.join(words).strip()}:"]
    if place.hops:
        source = [name.format(escape(place.parent.id))] if name_source and place.parent else []
        words = [*source, *_way(place, escape), *words]
    return " ".join(" ".join(words).split())


def _way(place: Place, escape: Callable[[str], str]) -> Iterator[str]:
    """Yield what leads from the line above to ``place``: relations, and the names of connectors.

    Of several hops in a row with the same relation, the first names it.
    """
    names = (escape(f'"{_shortened(name)}"') for name in place.through)
    if place.parent is None:
        yield next(names)  # the seed is a connector
    before = None
    for hop in place.hops:
        yield "" if hop.relation == before else escape(hop.relation)
        yield "->" if hop.direction == "out" else "<-"
        yield next(names, "")
        before = hop.relation


def _shortened(name: str) -> str:
    """Return a name that stays within its quotes."""
    name = name.replace('"', "'")
    return name if len(name) <= _MAX_NAME_CHARS else f"{name[: _MAX_NAME_CHARS - 3]}..."


def _note(place: Place) -> str:
    """Say why the text of ``place`` does not stand here; "" if it does."""
    if place.home.id != place.id:
        return f"(same as {place.home.id})"
    if place.home is not place:
        return "(shown elsewhere)"
    return "" if place.text else f"({place.note})"


def _json(place: Place) -> str:
    note = _note(place)
    via: dict[str, object] | None = None
    if place.hops:
        hop, above = place.hops[-1], place.parent and place.parent.id
        via = {"from": above, "relation": hop.relation, "direction": hop.direction}
        if place.through:
            via["through"] = [_shortened(name) for name in place.through]
    entry: dict[str, object] = {"id": place.id, "via": via}
    if note:
        entry["note"] = note.strip("()")
    else:
        entry |= {"date": _date(place) or None, "text": place.text}
    line = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    return _SURROGATE.sub(
        lambda half: f"\\u{ord(half[0]):04x}", line
    )  # UTF-8 can't hold a lone half


def _date(place: Place) -> str:
    date = place.memory.created_at
    return date.date().isoformat() if date else ""


def _escape(text: str) -> str:
    return _INLINE.sub(r"\\\1", text)


def _escape_start(line: str) -> str:
    return _BLOCK.sub(lambda match: match[0] + "\\", line)
