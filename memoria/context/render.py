r"""Write places as plain text, Markdown or JSON.

In: places, one by one. Out: the lines of each place, and the whole text.
Touches nothing.

Every format shows the reason for each memory: the memories that led to it, from a seed down. In the
order of relevance, the tree shows the reason::

    [evt-040] Event, 2026-05-02, energy 0.900: Disk of build host 7 is full
      caused_by -> [act-012] AgentAction, energy 0.231: Kept all build logs,
        | compressed, for a year

In the order of time, each line names the memory that led to it::

    [evt-040] caused_by -> [act-012] AgentAction, energy 0.231: Kept all build logs

A hit of the search that nothing was explored from has no energy, and its line names none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from memoria.context.config import ContextConfig
from memoria.context.tree import Place
from memoria.types import Hop

# Characters that could begin or end an element of Markdown: anywhere, or at the start of a line.
_INLINE = re.compile(r"([\\`*_\[\]<>&~|])")
_BLOCK = re.compile(r"^(?:\d+(?=[.)])|(?=[#+\-=:]))")
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
    words = [name.format(escape(place.id)), escape(_facts(place))]
    if hop := _hop(place):
        source = [name.format(escape(hop.source))] if name_source else []
        words = [*source, escape(hop.relation), "->" if hop.direction == "out" else "<-", *words]
    return " ".join(" ".join(words).split())


def _facts(place: Place) -> str:
    if place.home is not place:
        return _note(place)
    energy = f"energy {place.energy:.3f}" if _has_energy(place) else ""
    return f"{', '.join(filter(None, (place.memory.kind, _date(place), energy)))}: {_note(place)}"


def _has_energy(place: Place) -> bool:
    """Tell whether the number of a place is energy: a hit that nothing started from has none."""
    return place.depth > 0 or place.path.end_reason != "not_explored"


def _note(place: Place) -> str:
    """Say why the text of ``place`` does not stand here; "" if it does."""
    if place.home.id != place.id:
        return f"(same as {place.home.id})"
    if place.home is not place:
        return "(shown elsewhere)"
    return "" if place.text else f"({place.note})"


def _json(place: Place) -> str:
    hop, note = _hop(place), _note(place)
    via = hop and {"from": hop.source, "relation": hop.relation, "direction": hop.direction}
    entry: dict[str, object] = {"id": place.id, "via": via}
    if note:
        entry["note"] = note.strip("()")
    else:
        entry |= {"kind": place.memory.kind, "date": _date(place) or None}
        energy = float(f"{place.energy:.3g}") if _has_energy(place) else None
        entry |= {"energy": energy, "text": place.text}
    line = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    return _SURROGATE.sub(
        lambda half: f"\\u{ord(half[0]):04x}", line
    )  # UTF-8 can't hold a lone half


def _hop(place: Place) -> Hop | None:
    return place.path.hops[place.depth - 1] if place.depth else None


def _date(place: Place) -> str:
    date = place.memory.created_at
    return date.date().isoformat() if date else ""


def _escape(text: str) -> str:
    return _INLINE.sub(r"\\\1", text)


def _escape_start(line: str) -> str:
    return _BLOCK.sub(lambda match: match[0] + "\\", line)
