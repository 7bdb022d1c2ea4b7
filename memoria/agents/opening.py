"""Show memories as they are, with their strongest edges, within a budget of tokens.

In: memories with their edges. Out: lines. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from memoria._support.wording import cut
from memoria.agents.answer import fitting, one_line
from memoria.recall.context import CountTokens
from memoria.retriever import GraphRetriever
from memoria.types import MemoryNode, Neighbour, Neighbourhood

#: Edges that are shown of one memory, the strongest.
EDGES = 6
_EDGE_CHARS = 80
_LEAST_TOKENS = 12


class Opened:
    """Memories shown so far, in the order of their ids as they were given."""

    def __init__(self, tokens: int, count: CountTokens) -> None:
        self.text = ""
        self.shown: list[tuple[str, MemoryNode]] = []  # after their scopes
        self.cut: list[str] = []
        self.missing: list[str] = []
        self.named_twice: list[str] = []  # labels of memories shown, and ids of others shown
        self.superseded: Mapping[str, str] = {}
        self._tokens = tokens
        self._count = count

    async def read(
        self, retriever: GraphRetriever, ids: tuple[str, ...], heading: str = ""
    ) -> None:
        """Show memories one by one; once the budget is full, the others are only looked for.

        Parameters
        ----------
        heading
            Heading above the memories; none if empty.

        Notes
        -----
        One round trip for all, and two for the edges of each memory that has room.
        """
        missing = set((await retriever.get(ids)).missing)
        if heading and len(missing) < len(ids) and self._count(heading) < self._left():
            self.text = self._before() + heading
        for id_ in ids:
            if id_ in missing:
                self.missing.append(id_)
            elif self._left() < _LEAST_TOKENS:
                self.cut.append(id_)
            else:
                await self._open(retriever, id_)

    @property
    def ids(self) -> list[str]:
        """Ids of the memories shown."""
        return [memory.id for _, memory in self.shown]

    @property
    def notes(self) -> list[str]:
        """Say which memories are not there or not shown in full, and which names mean two."""
        cut_short = f"(cut for lack of tokens: {_listed(self.cut)})"
        return [
            *([not_there(self.missing)] if self.missing else []),
            *([cut_short] if self.cut else []),
            *(
                f"({one_line(name)} is a label and an id: both memories are shown)"
                for name in self.named_twice
            ),
        ]

    async def _open(self, retriever: GraphRetriever, id_: str) -> None:
        """Show a memory with its edges, as far as there is room."""
        found = await retriever.neighbours(id_, limit=EDGES)
        if found.memory is None:  # it was deleted a moment ago
            self.missing.append(id_)
        elif not self._add(retriever.scope, found.memory, found):
            self.cut.append(id_)

    def _add(self, scope: str, memory: MemoryNode, found: Neighbourhood) -> bool:
        """Show a memory; return whether all of it fits."""
        whole = "\n".join([_body(memory, self.superseded.get(memory.id)), *_edges(found)])
        shown = fitting(whole, self._left(), self._count)
        if shown:
            self.text = self._before() + shown
            self.shown.append((scope, memory))
        return shown == whole

    def _before(self) -> str:
        return f"{self.text}\n" if self.text else ""

    def _left(self) -> int:
        """Return the tokens that are left for the next memory."""
        return self._tokens - self._count(self._before())


def not_there(ids: Iterable[str]) -> str:
    """Say of memories that the scope does not hold them."""
    return f"(not found: {_listed(ids)})"


def _listed(ids: Iterable[str]) -> str:
    return ", ".join(map(one_line, ids))


def _body(memory: MemoryNode, superseded_by: str | None) -> str:
    """Return a memory as lines of which only the first begins at the margin."""
    notes = [memory.kind]
    if memory.created_at is not None:
        notes.append(memory.created_at.date().isoformat())
    if memory.valid_until is not None:
        over = memory.valid_until <= datetime.now(UTC)
        until = memory.valid_until.date().isoformat()
        notes.append(f"outdated since {until}" if over else f"valid until {until}")
    if superseded_by is not None:
        notes.append(f"no longer valid, replaced by [{superseded_by}]")
    if memory.tags:
        notes.append(f"tags {', '.join(memory.tags)}")
    lines = [line for line in memory.said.splitlines() if line.strip()]
    head = f"[{one_line(memory.id)}] {one_line('; '.join(notes))}:"
    return "\n  | ".join([" ".join([head, *lines[:1]]), *lines[1:]])


def _edges(found: Neighbourhood) -> list[str]:
    lines = [_edge(one) for one in found.neighbours]
    more = found.degree - len(found.neighbours)
    return [*lines, *([f"  and {more} more edges"] if more > 0 else [])]


def _edge(one: Neighbour) -> str:
    relation = one_line(one.relation)
    arrow = f"-{relation}->" if one.direction == "out" else f"<-{relation}-"
    short = cut(one_line(one.memory.said[: 2 * _EDGE_CHARS]), _EDGE_CHARS)
    return f"  {arrow} [{one_line(one.memory.id)}] weight {one.weight:.2g}: {short}"
