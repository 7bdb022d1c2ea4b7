"""A memory in plain Python: what writing, learning, forgetting and undoing must come to.

In: the same calls as memoria gets. Out: what the database must hold. Touches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Text:
    """A memory: its text, and how often it was confirmed and overridden."""

    text: str
    confirmed: int = 0
    overridden: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge: its weight, how often it was used, and the weight that it was last given.

    ``given`` is None until the edge has learned.
    """

    weight: float
    uses: int = 0
    given: float | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """What one event of learning changed: before and after, of an edge or of memories."""

    at: int
    edge: Key | None = None
    before: Edge | None = None
    after: Edge | None = None
    counts: tuple[tuple[str, Text, Text], ...] = ()


@dataclass(slots=True)
class Model:
    """The state of one scope.

    Attributes
    ----------
    texts
        Id -> memory.
    edges
        Source, target and relation -> edge.
    log
        Events of learning that were not undone, oldest first.
    """

    texts: dict[str, Text] = field(default_factory=dict)
    edges: dict[Key, Edge] = field(default_factory=dict)
    log: list[Event] = field(default_factory=list)

    def write(self, id_: str, text: str) -> None:
        """Write a memory; one that is there keeps its counts."""
        known = self.texts.get(id_)
        self.texts[id_] = Text(text) if known is None else replace(known, text=text)

    def relate(self, key: Key, weight: float) -> None:
        """Write an edge; with the weight that it was given before, it keeps what it learned."""
        known = self.edges.get(key)
        if known is None:
            self.edges[key] = Edge(weight)
        elif known.given is None or known.given != weight:
            self.edges[key] = Edge(weight, known.uses)

    def strengthen(self, key: Key, increment: float, at: int) -> None:
        """Add to the weight of an edge, or make it, if both ends are there."""
        source, target, _ = key
        if source not in self.texts or target not in self.texts:
            return
        before = self.edges.get(key)
        if before is None:
            after = Edge(increment, 1)
        else:
            given = before.weight if before.given is None else before.given
            after = Edge(min(before.weight + increment, 1.0), before.uses + 1, given)
        self.edges[key] = after
        self.log.append(Event(at, key, before, after))

    def count(self, confirmed: list[str], overridden: list[str], at: int) -> None:
        """Count feedback of memories that are there."""
        counts = []
        for id_ in (*confirmed, *overridden):
            if (before := self.texts.get(id_)) is not None:
                right = id_ in confirmed
                after = replace(
                    before,
                    confirmed=before.confirmed + right,
                    overridden=before.overridden + (not right),
                )
                self.texts[id_] = after
                counts.append((id_, before, after))
        self.log.append(Event(at, counts=tuple(counts)))

    def forget(self, id_: str) -> None:
        """Delete a memory and its edges."""
        self.texts.pop(id_, None)
        for key in [key for key in self.edges if id_ in key[:2]]:
            del self.edges[key]

    def undo(self, since: int) -> None:
        """Take back events, the newest first; what was written since stays as it is."""
        while self.log and self.log[-1].at >= since:
            event = self.log.pop()
            if event.edge is not None and event.after is not None:
                known = self.edges.get(event.edge)
                if known is not None and known.weight == event.after.weight:
                    if event.before is None:
                        del self.edges[event.edge]
                    else:
                        self.edges[event.edge] = event.before
            for id_, before, after in event.counts:
                known_text = self.texts.get(id_)
                if known_text is not None and _counts(known_text) == _counts(after):
                    confirmed, overridden = _counts(before)
                    self.texts[id_] = replace(
                        known_text, confirmed=confirmed, overridden=overridden
                    )


def _counts(text: Text) -> tuple[int, int]:
    return text.confirmed, text.overridden
