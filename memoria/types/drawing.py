"""What is drawn of explorations and recalls: trees of cards, and the nodes of a graph.

In: paths, and notes on them. Out: SVG and HTML as text, or plain dictionaries. The
types that are drawn import this module; it knows only what they are made of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any, Protocol

from memoria._support.wording import cut, number_of
from memoria.types.leading import Leading
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
#: Paths to a context that are drawn below each other, so that they fit on a screen.
MOST_LEADING = 6
_PHRASE_CHARACTERS, _TEXT_CHARACTERS = 60, 240
# A notebook shows an answer on one screen: what is longer scrolls.
_CONTEXT_STYLE = "white-space:pre-wrap;overflow-wrap:anywhere;max-height:22em;overflow:auto"
_WHY_STYLE = "overflow-wrap:anywhere;max-height:12em;overflow:auto"


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
        _tags_in_words(tags),
        f"from {', '.join(each.seed.id for each in explorations) or 'no seed'}: "
        f"{number_of(len(reached), 'memory', 'memories')} on "
        f"{number_of(sum(len(each.paths) for each in explorations), 'path')}",
    ]
    if len(drawn) < len(reached):
        facts.append(f"the {len(drawn)} strongest are drawn")
    spoken = [f"{' to '.join(path.ids)}, {_spaced(path.end_reason)}" for path in paths]
    return _drawn([tree for tree in trees if tree is not None], paths, question, facts, spoken)


def picture_of_leading(
    found: Leading, packed: Set[str], *, question: str, tags: Sequence[str]
) -> str:
    """Draw the paths that lead to a context, the first that fit on a screen.

    Parameters
    ----------
    packed
        Ids of the memories in the context, which get a frame of their own.
    """
    paths = found.paths[:MOST_LEADING]
    of_seed: defaultdict[str, list[Path]] = defaultdict(list)
    for path in paths:
        of_seed[path.seed_id].append(path)
    facts = [f"green: in the context; {found}"]
    if len(paths) < len(found.paths):
        facts.append(f"the first {len(paths)} are drawn")
    facts += [_tags_in_words(tags)] if tags else []
    trees = [_grown(each, packed=packed) for each in of_seed.values()]
    return _drawn(trees, paths, question, facts, [" to ".join(path.ids) for path in paths])


def _tags_in_words(tags: Sequence[str]) -> str:
    return f"query tags: {', '.join(tags) or 'none'}"


def _drawn(
    trees: Sequence[Card],
    paths: Sequence[Path],
    question: str,
    facts: Iterable[str],
    spoken: Sequence[str],
) -> str:
    return draw(
        trees,
        heading=question,
        facts="  ·  ".join(facts),
        spoken=f"{'; '.join(spoken)}." if spoken else "",
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
    answer: str,
    picture: str,
    ranked: Sequence[tuple[float, MemoryNode]],
    remarks: Iterable[str],
) -> list[str]:
    """Return the parts of a page about a recall: context and reasons; folded, paths and order.

    Parameters
    ----------
    answer, picture
        The context with the paths to it as HTML, and all paths as SVG.
    ranked
        Scores and memories, best first.
    remarks
        What else a reader should know, in sentences.
    """
    rows = "".join(
        f'<tr><td class="number">{rank}</td><td class="number">{score:.3f}</td>'
        f"<td>{clean(memory.id)}</td><td>{clean(cut(memory.said, _TEXT_CHARACTERS))}</td></tr>"
        for rank, (score, memory) in enumerate(ranked[:SHOWN_RANKED], start=1)
    )
    head = "<tr><th>rank</th><th>score</th><th>id</th><th>text</th></tr>"
    return [
        f"<h2>Context</h2>{answer}",
        *(f"<p>{clean(each)}</p>" for each in remarks),
        _folded("All paths", picture),
        _folded(
            f"Ranking: the first {min(SHOWN_RANKED, len(ranked))} of {len(ranked)} memories",
            f"<table>{head}{rows}</table>",
        ),
    ]


def why_html(found: Leading, labels: Mapping[str, str], picture: str) -> str:
    """Return why memories are in a context as HTML: a line for each path, and a folded picture.

    Parameters
    ----------
    labels
        Id of each memory of the context -> its name in the text.
    """
    lines = "".join(f"<li>{_in_words(path, labels)}</li>" for path in found.paths)
    why = f'<ol style="{_WHY_STYLE}">{lines}</ol>' if lines else ""
    return f"<div><p>Why: {found}</p>{why}{_folded('Picture of the paths', picture)}</div>"


def _in_words(path: Path, labels: Mapping[str, str]) -> str:
    """Return a path as a line of HTML: the memory found, and the relations that led on from it."""
    memories = path.memories or (None,) * len(path.ids)

    def named(id_: str, memory: MemoryNode | None) -> str:
        label = f"[{labels[id_]}] " if labels.get(id_) else ""
        text = " ".join(memory.said.split()) if memory else ""
        return clean(label + cut(text or id_, _PHRASE_CHARACTERS))

    line = f"found: {named(path.seed_id, memories[0])}"
    for hop, memory in zip(path.hops, memories[1:], strict=True):
        line += f" <em>{clean(_arrow(hop))}</em> {named(hop.target, memory)}"
    return line


def _folded(title: str, content: str) -> str:
    return (
        f'<details><summary>{title}</summary><div style="overflow-x:auto">{content}</div></details>'
    )


def context_html(text: str, *, memories: int, tokens: int, left_out: int) -> str:
    """Return a context as HTML, below the numbers of what it holds and what was left out."""
    counts = (
        f"{number_of(memories, 'memory', 'memories')}, {number_of(tokens, 'token')}, "
        f"{left_out} left out"
    )
    lines = "\n".join(clean(line) for line in text.splitlines())
    return f'<div><p>{counts}</p><pre style="{_CONTEXT_STYLE}">{lines}</pre></div>'


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
    ends = {path.ids: f"ends: {_spaced(path.end_reason)}" for path in paths}
    return _grown(paths, ends=ends) if paths else None


def _grown(
    paths: Sequence[Path],
    *,
    packed: Set[str] = frozenset(),
    ends: Mapping[tuple[str, ...], str] = MappingProxyType({}),
) -> Card:
    """Return the tree of some paths from one seed, with the reasons of their ends."""
    below: defaultdict[tuple[str, ...], dict[tuple[str, ...], Hop]] = defaultdict(dict)
    memories: dict[str, MemoryNode] = {}
    for path in paths:
        memories |= {memory.id: memory for memory in path.memories}
        for place, hop in enumerate(path.hops, start=1):
            below[path.ids[:place]][path.ids[: place + 1]] = hop

    def card(way: tuple[str, ...], energy: float) -> Card:
        memory = memories.get(way[-1])
        hops = sorted(below[way].items(), key=lambda each: (-each[1].energy_out, each[0]))
        degree = f"degree {hops[0][1].degree}" if hops else ""
        return Card(
            name=way[-1],
            kind=memory.kind if memory else "",
            text=memory.said if memory else "",
            energy=energy,
            note="  ·  ".join(filter(None, [degree, ends.get(way, "")])),
            packed=way[-1] in packed,
            branches=tuple(_branch(hop, card(to, hop.energy_out)) for to, hop in hops),
        )

    return card(paths[0].ids[:1], paths[0].start)


def _lonely(exploration: Tree) -> Card:
    """Return the card of a seed without a path, with the reason for it."""
    return Card(
        name=exploration.seed.id,
        kind="",
        text=str(exploration.error or ""),
        energy=exploration.seed.score,
        note=_spaced(exploration.status),
    )


def _branch(hop: Hop, card: Card) -> Branch:
    return Branch(
        above=_arrow(hop),
        below=f"{hop.weight:g} · {hop.tag_similarity:.3f}",
        ledger=f"{hop.source} to {hop.target}: {hop.energy_in} * {hop.weight} / "
        f"sqrt({hop.degree}) * {hop.tag_similarity} = {hop.energy_out}",
        energy=hop.energy_out,
        card=card,
    )


def _arrow(hop: Hop) -> str:
    return f"{hop.relation} →" if hop.direction == "out" else f"← {hop.relation}"


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
