"""Arrange the memories of a context in reading order.

In: memories, the best first, and the edges that say more than a text. Out: `Line`s. Touches
nothing.

The best memory comes first. A memory is nested below a better one only if they are joined by an
edge that says more than both texts. Messages of the same conversation and day are grouped, so that
the day is written once; so are memories of one scope, where there are several.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import heappop, heappush
from typing import Literal

from memoria.graph.vocabulary import whole_id
from memoria.recall.context.candidates import Candidate, Reason, Reasons
from memoria.types.memory import CONVERSATION

#: Deepest nesting of a line; each level costs two spaces.
MOST_DEPTH = 10
_LATE = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A memory in its place.

    ``reason`` is the edge that joins it to its parent ``above``; ``depth`` is 0 for a root.
    """

    one: Candidate
    above: Line | None = None
    reason: Reason | None = None
    depth: int = 0


def arrange(
    chosen: Sequence[Candidate], reasons: Reasons, order: Literal["relevance", "time"]
) -> list[Line]:
    """Return the lines of a context in order.

    Parameters
    ----------
    chosen
        The memories of the context, best first.
    """
    trees = [*_trees(chosen, reasons)]
    if order == "time":
        lines = [line for tree in trees for line in tree]
        return sorted(lines, key=lambda line: _time_of(line.one))  # stable: ties by worth
    of_scopes: dict[str, dict[tuple[str, ...], dict[str, list[list[Line]]]]] = {}
    for tree in trees:
        root = tree[0]
        together = of_scopes.setdefault(root.one.scope, {})
        key = (_conversation(root.one), root.one.day) if root.one.day else (whole_id(root.one.id),)
        days = together.setdefault(key, {})
        days.setdefault(whole_id(root.one.id), []).append(tree)
    return [
        line
        for together in of_scopes.values()
        for days in together.values()
        for parts in days.values()
        for tree in parts
        for line in tree
    ]


def _trees(chosen: Sequence[Candidate], reasons: Reasons) -> Iterator[list[Line]]:
    """Yield the trees, best memory first; in a tree, each line is below its best neighbour.

    A tree grows from its best memory, and always adds the best memory joined to it next.
    """
    places = {one.id: place for place, one in enumerate(chosen)}
    lines: dict[str, Line] = {}
    below: dict[str, list[Line]] = defaultdict(list)
    for one in chosen:
        if one.id in lines:
            continue
        root = lines[one.id] = Line(one)
        if one.id not in reasons:
            yield [root]
            continue
        waiting: list[tuple[int, int, str]] = []
        grown = root
        while True:
            if grown.depth < MOST_DEPTH:
                for id_ in reasons.get(grown.one.id, ()):
                    if id_ in places and id_ not in lines:
                        heappush(waiting, (places[id_], places[grown.one.id], grown.one.id))
            while waiting and chosen[waiting[0][0]].id in lines:
                heappop(waiting)
            if not waiting:
                break
            place, _, above = heappop(waiting)
            new = chosen[place]
            parent = lines[above]
            grown = Line(new, parent, reasons[above][new.id], parent.depth + 1)
            lines[new.id] = grown
            below[above].append(grown)
        yield [*_downwards(root, below)]


def _downwards(line: Line, below: dict[str, list[Line]]) -> Iterator[Line]:
    waiting = [line]
    while waiting:
        line = waiting.pop()
        yield line
        waiting += reversed(below[line.one.id])


def _time_of(one: Candidate) -> datetime:
    date = one.memory.created_at
    if date is None:
        return _LATE
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _conversation(one: Candidate) -> str:
    return str(one.memory.metadata.get(CONVERSATION, ""))


def headings_of(lines: Iterable[Line], *, nested: bool) -> Iterator[tuple[str, str]]:
    """Yield, for each line, the heading above it and the day to show in the line; mostly "".

    A heading names the day, and the scope where there are several. It applies to all lines that
    follow. If lines are ``nested``, a child from another day shows its own day instead.
    """
    day, scope = "", ""
    for line in lines:
        changed = line.one.scope != scope
        scope, day = line.one.scope, "" if changed else day
        own = line.one.day or ("undated" if day else "")
        if changed:
            day = own
            yield ", ".join(filter(None, (" ".join(scope.split()), own))), ""
        elif own == day:
            yield "", ""
        elif nested and line.above is not None:
            yield "", own
        else:
            day = own
            yield own, ""
