"""Draw one exploration of the sample memory: ``docs/images/exploration.svg``.

    scripts/docs picture

Starts a throw-away Neo4j, loads the sample, explores from one fixed seed without an embedder, and
draws what came back. The same on every machine: nothing that is drawn depends on time or on a
model.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import wrap

import memoria
from memoria._support.progress import progress_bars
from memoria.ingest import ingest_files
from memoria.local import LocalNeo4j
from memoria.sample import QUESTIONS, sample_path

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "exploration.svg"
SCOPE = "sample"
QUESTION = QUESTIONS[0]
SEED = memoria.Seed(id="evt-062", score=1.0)  # the last bun was sold
# Twice the default threshold: the strongest paths alone, so that the picture stays legible.
CONFIG = memoria.RetrieverConfig(strategy=memoria.TransferEnergy(min_activation=0.01))

# Pixels of the picture before it is scaled.
MARGIN = 18
HEAD = 66
FOOT = 62
BOX_WIDTH = 182
BOX_HEIGHT = 88
GAP = 96
BEND = 28  # part of the gap in which an edge turns; its labels stand in the rest
PITCH = 114
LINE = 14
# What fits into a box: characters of a line in a wide font, and lines.
CHARACTERS = 26
LINES = 3
WIDEST_EDGE = 14

# Colours of the kinds that every memory may have, for light and dark surroundings.
KINDS = {
    "UserRequest": ("#8250df", "#b392f0"),
    "UserPreference": ("#bf3989", "#f778ba"),
    "AgentAnswer": ("#1a7f37", "#56d364"),
    "AgentAction": ("#0b7285", "#39c5cf"),
    "Event": ("#0969da", "#6cb6ff"),
    "DataSource": ("#8a5a00", "#e3b341"),
}
OTHER_KIND = ("#59636e", "#9198a1")

# Each look: class of the elements, property, colour in light and in dark surroundings.
LOOKS = [
    ("card", "fill", "#ffffff", "#0d1117"),
    ("card", "stroke", "#d0d7de", "#30363d"),
    ("box", "fill", "#f6f8fa", "#161b22"),
    ("box", "stroke", "#d0d7de", "#3d444d"),
    ("text", "fill", "#1f2328", "#e6edf3"),
    ("muted", "fill", "#59636e", "#9198a1"),
    ("energy", "fill", "#bc4c00", "#f0a35e"),
    ("edge", "stroke", "#f2a65a", "#b8692b"),
]
FORMULA = "energy passed on = energy × weight / √degree × tag similarity"
READING = (
    "on each edge: what it says, which way it is stored, and its weight · tag similarity; "
    "width: root of the energy"
)
FONT = "font-family: system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A memory in the picture.

    Attributes
    ----------
    id, kind, text
        Of the memory; no kind and no text where it could not be read.
    energy
        Energy that reached it.
    x, y
        Left edge and middle; pixels.
    """

    id: str
    kind: str
    text: str
    energy: float
    x: float
    y: float


def draw(exploration: memoria.Exploration, *, question: str, query_tags: tuple[str, ...]) -> str:
    """Draw an exploration as a tree from left to right.

    Returns
    -------
    str
        An SVG document; the same for the same exploration, whatever time it took.
    """
    hops = {hop.target: hop for path in exploration.paths for hop in path.hops}
    ends = {path.ids[-1]: path.end_reason for path in exploration.paths}
    boxes = place(exploration, hops)
    degrees = {hop.source: hop.degree for hop in hops.values()}
    width = max(box.x for box in boxes.values()) + BOX_WIDTH + MARGIN
    height = max(box.y for box in boxes.values()) + PITCH / 2 + FOOT
    tags = ", ".join(query_tags) or "none"
    facts = (
        f"query tags: {tags}  ·  from {exploration.seed.id}: "
        f"{len(boxes)} memories on {len(exploration.paths)} paths"
    )
    spoken = "; ".join(
        f"{' to '.join(path.ids)}, {spaced(path.end_reason)}" for path in exploration.paths
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-labelledby="title desc">',
        f'<title id="title">An exploration: {clean(question)}</title>',
        f'<desc id="desc">{clean(facts)}. {clean(spoken)}.</desc>',
        style(),
        rectangle("card", 0.5, 0.5, width - 1, height - 1),
        label(MARGIN, 32, question, "text title"),
        label(MARGIN, 54, facts, "muted"),
        *(edge(boxes[hop.source], boxes[hop.target], hop) for hop in hops.values()),
        *(edge_labels(boxes[hop.target], hop) for hop in hops.values()),
        *(box_of(box, degrees.get(box.id), ends.get(box.id)) for box in boxes.values()),
        label(MARGIN, height - 36, FORMULA + example(hops), "muted"),
        label(MARGIN, height - 18, READING, "muted"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def place(exploration: memoria.Exploration, hops: dict[str, memoria.Hop]) -> dict[str, Box]:
    """Give every memory its place: a column a hop, a row a leaf, parents beside their children."""
    memories = {memory.id: memory for path in exploration.paths for memory in path.memories}
    children: defaultdict[str, list[memoria.Hop]] = defaultdict(list)
    for hop in sorted(hops.values(), key=lambda hop: (-hop.energy_out, hop.target)):
        children[hop.source].append(hop)
    boxes: dict[str, Box] = {}
    rows = iter(range(len(hops) + 1))

    def put(node: str, energy: float, column: int) -> float:
        below = [put(hop.target, hop.energy_out, column + 1) for hop in children[node]]
        y = (below[0] + below[-1]) / 2 if below else HEAD + PITCH * (next(rows) + 0.5)
        memory = memories.get(node)
        boxes[node] = Box(
            id=node,
            kind=memory.kind if memory else "",
            text=memory.text if memory else "",
            energy=energy,
            x=MARGIN + column * (BOX_WIDTH + GAP),
            y=y,
        )
        return y

    put(exploration.seed.id, exploration.seed.score, 0)
    return boxes


def box_of(box: Box, degree: int | None, end_reason: str | None) -> str:
    """Draw a memory: who it is, its energy, its first words, and why a path ends here."""
    top = box.y - BOX_HEIGHT / 2
    left, right = box.x + 14, box.x + BOX_WIDTH - 10
    kind = f"kind-{box.kind}" if box.kind in KINDS else "kind"
    words = wrap(box.text, CHARACTERS, max_lines=LINES, placeholder=" …")
    parts = [
        f"<g><title>{clean(f'{box.id}: {box.text}')}</title>",
        rectangle("box", box.x, top, BOX_WIDTH, BOX_HEIGHT),
        rectangle(kind, box.x, top, 5, BOX_HEIGHT),
        label(left, top + 18, box.id, "text bold"),
        label(right, top + 18, f"{box.energy:.3f}", "energy bold end"),
        label(left, top + 33, box.kind, f"{kind} small"),
        *(
            label(left, top + 50 + LINE * number, line, "text small")
            for number, line in enumerate(words)
        ),
    ]
    if degree is not None:
        parts.append(label(right, top + 33, f"degree {degree}", "muted small end"))
    if end_reason is not None:
        bottom = top + BOX_HEIGHT + 14
        parts.append(label(right, bottom, f"ends: {spaced(end_reason)}", "muted small end"))
    return "".join([*parts, "</g>"])


def edge(parent: Box, child: Box, hop: memoria.Hop) -> str:
    """Draw the energy that flows over an edge; its width grows with the root of the energy."""
    start, end = parent.x + BOX_WIDTH, child.x
    turned, middle = start + BEND, start + BEND / 2
    ledger = (
        f"{hop.source} to {hop.target}: {hop.energy_in} * {hop.weight} / sqrt({hop.degree}) "
        f"* {hop.tag_similarity} = {hop.energy_out}"
    )
    return (
        f"<g><title>{clean(ledger)}</title>"
        f'<path class="edge" d="M{start:g} {parent.y:g} C{middle:g} {parent.y:g} '
        f'{middle:g} {child.y:g} {turned:g} {child.y:g} H{end:g}" '
        f'stroke-width="{max(1.5, WIDEST_EDGE * hop.energy_out**0.5):.2f}"/></g>'
    )


def edge_labels(child: Box, hop: memoria.Hop) -> str:
    """Write what an edge says and what it lets through, where it meets the child."""
    relation = f"{hop.relation} →" if hop.direction == "out" else f"← {hop.relation}"
    through = f"{hop.weight:g} · {hop.tag_similarity:.3f}"
    x = child.x - 6
    return label(x, child.y - 8, relation, "text small halo end") + label(
        x, child.y + 17, through, "muted small halo end"
    )


def label(x: float, y: float, words: str, look: str) -> str:
    """Write one line of text."""
    return f'<text class="{look}" x="{x:g}" y="{y:g}">{clean(words)}</text>'


def rectangle(look: str, x: float, y: float, width: float, height: float) -> str:
    """Draw a rectangle with round corners."""
    return (
        f'<rect class="{look}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
        f'rx="{min(6, width / 2):g}"/>'
    )


def example(hops: dict[str, memoria.Hop]) -> str:
    """Work the formula out for the strongest hop."""
    if not hops:
        return ""
    hop = max(hops.values(), key=lambda hop: (hop.energy_out, hop.target))
    return (
        f"; {hop.source} to {hop.target}: {hop.energy_in:.3f} × {hop.weight:g} / √{hop.degree} "
        f"× {hop.tag_similarity:.3f} = {hop.energy_out:.3f}"
    )


def style() -> str:
    """Write the looks, those for dark surroundings behind a media query."""
    looks = [*LOOKS, ("halo", "stroke", "#ffffff", "#0d1117"), ("kind", "fill", *OTHER_KIND)]
    looks += [(f"kind-{kind}", "fill", *colours) for kind, colours in KINDS.items()]
    light = "".join(f".{name}{{{what}:{colour}}}" for name, what, colour, _ in looks)
    dark = "".join(f".{name}{{{what}:{colour}}}" for name, what, _, colour in looks)
    return (
        f"<style>text{{{FONT};font-size:12px}}.small{{font-size:11px}}"
        ".title{font-size:18px}.title,.bold{font-weight:600}.end{text-anchor:end}"
        ".edge{fill:none;stroke-linecap:round}.halo{stroke-width:3px;paint-order:stroke}"
        f"{light}@media (prefers-color-scheme:dark){{{dark}}}</style>"
    )


def clean(words: str) -> str:
    """Make words fit for XML: escaped, and without the characters that it does not allow."""
    return escape("".join(c if c.isprintable() else " " for c in words))


def spaced(name: str) -> str:
    """Write a name of the code as words."""
    return name.replace("_", " ")


async def explore_sample(retriever: memoria.GraphRetriever) -> memoria.Exploration:
    """Write the sample into the retriever's scope, and explore from the one seed."""
    await ingest_files(retriever.writer(), [sample_path()])
    async with retriever.explore_seeds(
        [SEED], query_tags=QUESTION.tags, config=CONFIG
    ) as explorations:
        return await anext(aiter(explorations))


def picture(exploration: memoria.Exploration) -> str:
    """Draw what `explore_sample` found."""
    return draw(exploration, question=QUESTION.text, query_tags=QUESTION.tags)


async def main() -> None:
    """Explore, draw, write."""
    with progress_bars() as progress:
        async with (
            LocalNeo4j.ephemeral(progress=progress) as server,
            memoria.connect(server.uri, server.auth, scope=SCOPE) as retriever,
        ):
            await memoria.apply_schema(retriever.store)
            exploration = await explore_sample(retriever)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture(exploration), encoding="utf-8")
    print(f"{len(exploration.paths)} paths drawn in {PICTURE}")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except memoria.MemoriaError as exc:
        sys.exit(f"memoria: {exc}")
