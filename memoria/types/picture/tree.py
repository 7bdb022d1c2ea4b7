"""Draw trees from left to right: a column a step, a row a leaf.

In: trees of `Card`, a heading, notes. Out: one SVG document; the same for the same trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memoria._support.wording import cut_inside
from memoria.types.picture.looks import (
    ROOT,
    class_of,
    clean,
    fitted,
    label,
    lines_of,
    rectangle,
    style,
    width_of,
)

# Pixels of the picture before it is scaled.
MARGIN = 18
HEAD = 66
FOOT_LINE = 18
BOX_WIDTH = 182
BOX_HEIGHT = 88
GAP = 96
BEND = 28  # part of the gap in which an edge turns; its labels stand in the rest
PITCH = 114
LINE = 14
MIN_WIDTH = 760  # the heading needs so much where there are few columns
LEFT, RIGHT = 14, 10  # from the sides of a box to its words
LINES = 3
# Sizes of letters; bold ones, which are up to 13 % wider, are counted larger than they are. A name
# may take some of the room to its right.
TITLE, NAME, SMALL = 20.4, 13, 11
WIDEST_EDGE = 14
THINNEST_EDGE = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """The edge to a card from the one before it.

    Attributes
    ----------
    above, below
        What stands above and below the edge.
    ledger
        What a pointer on the edge shows.
    energy
        What flows over it, 0 to 1; its width grows with the root.
    """

    above: str
    below: str
    ledger: str
    energy: float
    card: Card


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A box in the picture.

    Attributes
    ----------
    name, kind, text
        What stands in the box; the text is cut, and a pointer on the box shows all of it.
    energy
        Number in its corner.
    note
        What stands below the box.
    packed
        Whether it has the frame of a memory that is in the context.
    branches
        The edges to the cards after it, from top to bottom.
    """

    name: str
    kind: str
    text: str
    energy: float
    note: str = ""
    packed: bool = False
    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A card and its place: left edge and middle, in pixels."""

    card: Card
    x: float
    y: float
    branches: tuple[tuple[Branch, _Placed], ...]


def draw(trees: Sequence[Card], *, heading: str, facts: str, spoken: str, notes: list[str]) -> str:
    """Draw trees below each other.

    Parameters
    ----------
    heading, facts
        The two lines above the trees.
    spoken
        What a screen reader says of the trees.
    """
    rows = _Rows()
    placed = [_place(tree, rows, 0) for tree in trees]
    everything = [each for tree in placed for each in _all(tree)]
    width = max([MIN_WIDTH, *(each.x + BOX_WIDTH + MARGIN for each in everything)])
    body = HEAD + PITCH * rows.taken
    height = body + FOOT_LINE * (len(notes) + bool(notes))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{ROOT}" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" '
        'style="max-width:100%;height:auto" '
        f'aria-label="{clean(f"{heading}. {facts}. {spoken}")}">',
        style(),
        rectangle("card", 0.5, 0.5, width - 1, height - 1),
        label(MARGIN, 32, fitted(heading, width - 2 * MARGIN, TITLE), "text title"),
        label(MARGIN, 54, fitted(facts, width - 2 * MARGIN, NAME), "muted"),
        *(_edge(each, *branch) for each in everything for branch in each.branches),
        *(_edge_labels(*branch) for each in everything for branch in each.branches),
        *(_box(each) for each in everything),
        *(
            label(MARGIN, body + FOOT_LINE * number, note, "muted")
            for number, note in enumerate(notes, start=1)
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


class _Rows:
    """Counts the leaves."""

    def __init__(self) -> None:
        self.taken = 0

    def next(self) -> float:
        self.taken += 1
        return HEAD + PITCH * (self.taken - 0.5)


def _place(card: Card, rows: _Rows, column: int) -> _Placed:
    """Place a card next to the middle of those that follow it, or in a row of its own."""
    below = [(branch, _place(branch.card, rows, column + 1)) for branch in card.branches]
    y = (below[0][1].y + below[-1][1].y) / 2 if below else rows.next()
    x = MARGIN + column * (BOX_WIDTH + GAP)
    return _Placed(card=card, x=x, y=y, branches=tuple(below))


def _all(placed: _Placed) -> Iterator[_Placed]:
    yield placed
    for _, child in placed.branches:
        yield from _all(child)


def _box(placed: _Placed) -> str:
    """Draw a card: its name, its kind and number, its first words."""
    card, top = placed.card, placed.y - BOX_HEIGHT / 2
    left, right = placed.x + LEFT, placed.x + BOX_WIDTH - RIGHT
    kind, room, energy = class_of(card.kind), right - left, f"{card.energy:.3f}"
    shown = fitted(card.kind, room - width_of(f"{energy} ", NAME), SMALL)
    parts = [
        f"<g><title>{clean(f'{card.name}: {card.text}')}</title>",
        rectangle("box packed" if card.packed else "box", placed.x, top, BOX_WIDTH, BOX_HEIGHT),
        rectangle(kind, placed.x, top, 5, BOX_HEIGHT),
        label(left, top + 18, fitted(card.name, room, NAME, cut_inside), "text bold"),
        label(left, top + 33, shown, f"{kind} small"),
        label(right, top + 33, energy, "energy bold end"),
        *(
            label(left, top + 50 + LINE * number, line, "text small")
            for number, line in enumerate(lines_of(card.text, room, SMALL, LINES))
        ),
    ]
    if card.note:
        parts.append(label(right, top + BOX_HEIGHT + 14, card.note, "muted small end"))
    return "".join([*parts, "</g>"])


def _edge(parent: _Placed, branch: Branch, child: _Placed) -> str:
    """Draw an edge; its width grows with the root of the energy."""
    start, end = parent.x + BOX_WIDTH, child.x
    turned, middle = start + BEND, start + BEND / 2
    width = max(THINNEST_EDGE, WIDEST_EDGE * min(max(branch.energy, 0.0), 1.0) ** 0.5)
    return (
        f"<g><title>{clean(branch.ledger)}</title>"
        f'<path class="edge" d="M{start:g} {parent.y:g} C{middle:g} {parent.y:g} '
        f'{middle:g} {child.y:g} {turned:g} {child.y:g} H{end:g}" '
        f'stroke-width="{width:.2f}"/></g>'
    )


def _edge_labels(branch: Branch, child: _Placed) -> str:
    """Write what an edge says where it meets the child."""
    x, above = child.x - 6, fitted(branch.above, GAP - BEND / 2 - 6, SMALL, cut_inside)
    return label(x, child.y - 8, above, "text small halo end") + label(
        x, child.y + 17, branch.below, "muted small halo end"
    )
