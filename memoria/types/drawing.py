"""What is drawn of explorations and recalls: trees of cards, and the nodes of a graph.

In: paths, and what else stands beside them. Out: SVG and HTML as text, or plain dictionaries. The
types that are drawn import this module; it knows only what they are made of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from memoria._support.wording import cut, number_of
from memoria.types.memory import MemoryNode
from memoria.types.paths import Hop, Path, Seed
from memoria.types.picture import Branch, Card, draw
from memoria.types.picture.looks import clean, colour_of

FORMULA = "energy passed on = energy × weight / √degree × tag similarity"
READING = (
    "on each edge: what it says, which way it is stored, and its weight · tag similarity; "
    "width: root of the energy"
)
# For programs that draw a graph: radius of a node and width of an edge at energy 1; pixels.
RADIUS = 40
SMALLEST_RADIUS = 8
WIDEST_EDGE = 14
CAPTION_CHARACTERS = 40
SHOWN_RANKED = 20
#: Memories of a picture, unless more are asked for.
MAX_DRAWN = 40


class Tree(Protocol):
    """The paths from one seed; an `Exploration` is one."""

    @property
    def seed(self) -> Seed:
        """Where the paths begin."""

    @property
    def paths(self) -> Sequence[Path]:
        """The paths; none if there is an error."""

    @property
    def status(self) -> str:
        """How the exploration ended."""

    @property
    def error(self) -> Exception | None:
        """Why there are no paths."""


def picture_of(
    explorations: Sequence[Tree], *, question: str, tags: Sequence[str], most: int
) -> str:
    """Draw explorations as trees below each other, the strongest memories of them."""
    paths = strongest([path for each in explorations for path in each.paths], most)
    drawn = {id_ for path in paths for id_ in path.ids}
    reached = {id_ for each in explorations for path in each.paths for id_ in path.ids}
    trees = [
        _tree(each, [path for path in paths if path.seed_id == each.seed.id])
        for each in explorations
    ]
    facts = [
        f"query tags: {', '.join(tags) or 'none'}",
        f"from {', '.join(each.seed.id for each in explorations) or 'no seed'}: "
        f"{number_of(len(reached), 'memory', 'memories')} on "
        f"{number_of(sum(len(each.paths) for each in explorations), 'path')}",
    ]
    if len(drawn) < len(reached):
        facts.append(f"the {len(drawn)} strongest are drawn")
    spoken = "; ".join(f"{' to '.join(path.ids)}, {_spaced(path.end_reason)}" for path in paths)
    return draw(
        [tree for tree in trees if tree is not None],
        heading=question,
        facts="  ·  ".join(facts),
        spoken=f"{spoken}." if spoken else "",
        notes=[FORMULA + _example([hop for path in paths for hop in path.hops]), READING],
    )


def graph_of(
    explorations: Sequence[Tree], *, packed: Iterable[str], ranks: Mapping[str, int]
) -> dict[str, list[dict[str, Any]]]:
    """Return what explorations reached as nodes and relationships of a graph."""
    nodes: dict[str, dict[str, Any]] = {}
    edges: dict[tuple[str, str, str], dict[str, Any]] = {}
    held = set(packed)
    for path in (path for each in explorations for path in each.paths):
        energies = (path.start, *(hop.energy_out for hop in path.hops))
        memories = path.memories or (None,) * len(path.ids)
        for id_, energy, memory in zip(path.ids, energies, memories, strict=True):
            if id_ not in nodes or energy > nodes[id_]["properties"]["energy"]:
                nodes[id_] = _node(id_, energy, memory)
            nodes[id_]["properties"] |= {"in_context": id_ in held, "rank": ranks.get(id_)}
        for hop in path.hops:
            ends = (hop.source, hop.target)
            source, target = ends if hop.direction == "out" else ends[::-1]
            key = (source, target, hop.relation)
            if key not in edges or hop.energy_out > edges[key]["properties"]["energy_out"]:
                edges[key] = _relationship(source, target, hop)
    return {"nodes": list(nodes.values()), "relationships": list(edges.values())}


def sections_of(
    picture: str,
    context: str,
    ranked: Sequence[tuple[float, MemoryNode]],
    remarks: Iterable[str],
) -> list[str]:
    """Return the parts of a page about a recall: its paths, the context, the order.

    Parameters
    ----------
    picture, context
        Paths as SVG, and the context as HTML.
    ranked
        Scores and memories, best first.
    remarks
        What else a reader should know, in sentences.
    """
    rows = "".join(
        f'<tr><td class="number">{rank}</td><td class="number">{score:.3f}</td>'
        f"<td>{clean(memory.id)}</td><td>{clean(memory.said)}</td></tr>"
        for rank, (score, memory) in enumerate(ranked[:SHOWN_RANKED], start=1)
    )
    head = "<tr><th>rank</th><th>score</th><th>id</th><th>text</th></tr>"
    return [
        f'<h2>Paths</h2><div class="wide">{picture}</div>',
        f"<h2>Context</h2>{context}",
        f"<h2>First {min(SHOWN_RANKED, len(ranked))} of {len(ranked)}</h2>"
        f"<table>{head}{rows}</table>",
        *(f"<p>{clean(each)}</p>" for each in remarks),
    ]


def context_html(text: str, *, memories: int, tokens: int, left_out: int) -> str:
    """Return a context as HTML, below the numbers of what it holds and what was left out."""
    counts = (
        f"{number_of(memories, 'memory', 'memories')}, {number_of(tokens, 'token')}, "
        f"{left_out} left out"
    )
    lines = "\n".join(clean(line) for line in text.splitlines())
    return f'<div><p>{counts}</p><pre style="white-space:pre-wrap">{lines}</pre></div>'


def strongest(paths: Sequence[Path], most: int) -> list[Path]:
    """Return the paths with the most energy, of as many memories as are wanted; at least one."""
    kept: list[Path] = []
    drawn: set[str] = set()
    for path in sorted(paths, key=lambda path: (-path.energy, path.ids)):
        if kept and len(drawn | {*path.ids}) > most:
            continue
        kept.append(path)
        drawn |= {*path.ids}
    return kept


def _tree(exploration: Tree, paths: Sequence[Path]) -> Card | None:
    """Return the tree of the paths from one seed; None if none of them is drawn."""
    if not exploration.paths:
        return _lonely(exploration)
    below: defaultdict[tuple[str, ...], dict[tuple[str, ...], Hop]] = defaultdict(dict)
    memories: dict[str, MemoryNode] = {}
    ends: dict[tuple[str, ...], str] = {}
    for path in paths:
        memories |= {memory.id: memory for memory in path.memories}
        ends[path.ids] = f"ends: {_spaced(path.end_reason)}"
        for place, hop in enumerate(path.hops, start=1):
            below[path.ids[:place]][path.ids[: place + 1]] = hop

    def card(way: tuple[str, ...], energy: float) -> Card:
        memory = memories.get(way[-1])
        hops = sorted(below[way].items(), key=lambda each: (-each[1].energy_out, each[0]))
        return Card(
            name=way[-1],
            kind=memory.kind if memory else "",
            text=memory.said if memory else "",
            energy=energy,
            note=f"degree {hops[0][1].degree}" if hops else "",
            end=ends.get(way, ""),
            branches=tuple(_branch(hop, card(to, hop.energy_out)) for to, hop in hops),
        )

    return card((exploration.seed.id,), paths[0].start) if paths else None


def _lonely(exploration: Tree) -> Card:
    """Return the card of a seed without a path, with the reason for it."""
    return Card(
        name=exploration.seed.id,
        kind="",
        text=str(exploration.error or ""),
        energy=exploration.seed.score,
        end=_spaced(exploration.status),
    )


def _branch(hop: Hop, card: Card) -> Branch:
    return Branch(
        above=f"{hop.relation} →" if hop.direction == "out" else f"← {hop.relation}",
        below=f"{hop.weight:g} · {hop.tag_similarity:.3f}",
        ledger=f"{hop.source} to {hop.target}: {hop.energy_in} * {hop.weight} / "
        f"sqrt({hop.degree}) * {hop.tag_similarity} = {hop.energy_out}",
        energy=hop.energy_out,
        card=card,
    )


def _node(id_: str, energy: float, memory: MemoryNode | None) -> dict[str, Any]:
    kind, text = (memory.kind, memory.said) if memory else ("", "")
    return {
        "id": id_,
        "caption": cut(" ".join(text.split()) or id_, CAPTION_CHARACTERS),
        "size": max(SMALLEST_RADIUS, RADIUS * max(energy, 0.0) ** 0.5),
        "color": colour_of(kind),
        "properties": {"kind": kind, "text": text, "energy": energy},
    }


def _relationship(source: str, target: str, hop: Hop) -> dict[str, Any]:
    ledger = ("weight", "degree", "tag_similarity", "energy_in", "energy_out")
    return {
        "source": source,
        "target": target,
        "caption": hop.relation,
        "width": max(1.0, WIDEST_EDGE * max(hop.energy_out, 0.0) ** 0.5),
        "properties": {name: getattr(hop, name) for name in ledger},
    }


def _example(hops: Sequence[Hop]) -> str:
    """Work the formula out for the strongest hop."""
    if not hops:
        return ""
    hop = max(hops, key=lambda hop: (hop.energy_out, hop.target))
    return (
        f"; {hop.source} to {hop.target}: {hop.energy_in:.3f} × {hop.weight:g} / √{hop.degree} "
        f"× {hop.tag_similarity:.3f} = {hop.energy_out:.3f}"
    )


def _spaced(name: str) -> str:
    """Write a name of the code as words."""
    return name.replace("_", " ")
