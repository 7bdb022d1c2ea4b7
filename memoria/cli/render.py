"""Print paths and tables: drawn on a terminal, elsewhere one line for each path or row.

On a terminal, the paths of a seed form a growing tree.
In: paths as they end, rows. Out: text on a console.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType

from rich.console import Console
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from memoria._support.wording import number_of
from memoria.cli.common import one_line
from memoria.graph.connectors import connectors_on
from memoria.types import ContextPack, Exploration, Hop, MemoryNode, Path, Recall

REFRESHES_PER_S = 10
SHOWN_CHARS = 300  # of a text; a narrow terminal cuts it further
_ELEMENT_ID = re.compile(r"\d+:[0-9a-f-]{36}:\d+")
_NAME_CHARS = 40
#: Scope and id of a memory -> its name in a context.
Labels = Mapping[tuple[str, str], str]
NO_LABELS: Labels = MappingProxyType({})

# This console cuts the lines of a tree at the width of the terminal; the other consoles let the
# terminal wrap long lines.
screen = Console(highlight=False, emoji=False)


async def show_paths(paths: AsyncIterator[Path], console: Console) -> None:
    """Show each path as soon as it ends."""
    if not _grows(console):
        async for path in paths:
            console.print(path_line(path), soft_wrap=True)
        return
    forest = Forest()
    with Live(forest.view, console=console, refresh_per_second=REFRESHES_PER_S) as live:
        async for path in paths:
            if forest.add(path):  # show a new tree at once, a new branch with the next refresh
                live.refresh()
        forest.sort()


def print_paths(paths: Iterable[Path], console: Console, labels: Labels, *, ends: bool) -> None:
    """Print paths: on a terminal as trees, elsewhere one line each.

    Parameters
    ----------
    labels
        Scope and id of a memory of the context -> its name there, shown with its id.
    ends
        Whether to say why each path ends; not of a path that is cut.
    """
    if not _grows(console):
        for path in paths:
            console.print(path_line(path, labels, ends=ends), soft_wrap=True)
        return
    forest = Forest(labels, ends=ends)
    for path in paths:
        forest.add(path)
    forest.sort()
    console.print(forest.view)


def _grows(console: Console) -> bool:
    """Tell whether a console can show trees; FORCE_COLOR makes it take a pipe for a terminal."""
    return console.is_interactive and console.file.isatty()


def path_line(path: Path, labels: Labels = NO_LABELS, *, ends: bool = True) -> Text:
    """Return a path as one line: ids, the energy that reached each id, and relations.

    Ids of the server's own, by which a mapping without a key knows nodes, are replaced by texts.
    """
    names = [_readable(*pair) for pair in zip_longest(path.ids, path.memories)]
    line = _head(path, labels, names[0])
    for hop, name in zip(path.hops, names[1:], strict=True):
        line.append(" ").append_text(_arrow(hop))
        line.append_text(_node(name, hop.energy_out, labels.get((path.scope, hop.target))))
    return line.append(f"  ({_reason(path)})", style="dim") if ends else line


class Forest:
    """Paths as one tree for each seed; the trees grow while they are shown."""

    def __init__(self, labels: Labels = NO_LABELS, *, ends: bool = True) -> None:
        self._labels = labels
        self._ends = ends
        self.view = Tree("", hide_root=True, guide_style="dim")
        self._nodes: dict[tuple[str, ...], Tree] = {}
        self._energies: dict[int, float] = {}

    def add(self, path: Path) -> bool:
        """Add a path; return whether it is the first path of its seed."""
        memories = path.memories or (None,) * len(path.ids)
        heads = [_head(path, self._labels)]
        for hop in path.hops:
            label = self._labels.get((path.scope, hop.target))
            heads.append(_arrow(hop).append_text(_node(hop.target, hop.energy_out, label)))
        energies = [path.start, *(hop.energy_out for hop in path.hops)]
        node, is_new = self.view, path.place[:2] not in self._nodes
        for place, (head, memory) in enumerate(zip(heads, memories, strict=True), start=1):
            ids = path.place[: place + 1]
            if ids not in self._nodes:
                reason = _reason(path) if self._ends and place == len(heads) else ""
                self._nodes[ids] = node.add(_label(head, reason, memory))
                self._energies[id(self._nodes[ids])] = energies[place - 1]
            node = self._nodes[ids]
        return is_new

    def sort(self) -> None:
        """Put trees and branches into the order of their energy, highest first."""
        for node in (self.view, *self._nodes.values()):
            node.children.sort(key=lambda child: -self._energies[id(child)])


def summary(explorations: Sequence[Exploration]) -> str:
    """Return the counts of explorations in words."""
    paths = [path for exploration in explorations for path in exploration.paths]
    connectors = connectors_on(paths)
    reached = {(path.scope, id_) for path in paths for id_ in path.ids if id_ not in connectors}
    cut = sum(exploration.status == "truncated" for exploration in explorations)
    counts = (
        number_of(len(explorations), "seed"),
        number_of(len(paths), "path"),
        number_of(len(reached), "memory", "memories"),
    )
    return ", ".join(counts) + (f" ({cut} cut short by the deadline)" if cut else "")


def recall_summary(recall: Recall, budget_tokens: int, *, verbose: bool = False) -> str:
    """Return in one line what a recall found, how long it took, and how it was degraded."""
    context, trace = recall.context, recall.trace
    stages = ", ".join(f"{stage} {s * 1000:.0f} ms" for stage, s in trace.timings_s.items())
    # Texts are read during the exploration, so its time includes them.
    total_s = sum(s for stage, s in trace.timings_s.items() if stage != "hydrate")
    return "; ".join(
        [
            f"{total_s * 1000:.0f} ms in all",
            summary(recall.explorations),
            f"{context.tokens} of {budget_tokens} tokens for "
            f"{number_of(len(context.items), 'memory', 'memories')}, {_left_out(context)}",
            *([stages] if verbose else []),
            *([f"preferred: {trace.window}"] if trace.window else []),
            *trace.degraded,
            *trace.notes,
        ]
    )


def _left_out(context: ContextPack) -> str:
    """Return how many memories are not in a context, and why, the most frequent reason first."""
    reasons = sorted(context.omitted_by_reason.items(), key=lambda found: -found[1])
    why = ", ".join(f"{reason.replace('_', ' ')} {count}" for reason, count in reasons)
    return f"{len(context.omitted)} left out" + (f" ({why})" if why else "")


def print_table(
    console: Console, look: Table, rows: Iterable[Sequence[Text]], *, indent: int = 0
) -> None:
    """Print rows in the columns of ``look``, a table without rows.

    A terminal shows the table, fitted to its width. Elsewhere the columns are aligned, and each
    row is one line, however long.
    """
    if console.is_terminal:
        for row in rows:
            look.add_row(*row)
        console.print(Padding.indent(look, indent), soft_wrap=False)
        return
    heads = [[str(column.header) for column in look.columns]] if look.show_header else []
    lines = [*heads, *([cell.plain for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    right = [column.justify == "right" for column in look.columns]
    for line in lines:
        parts = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ]
        text = f"{' ' * indent}{'  '.join(parts)}".rstrip()
        console.print(text, markup=False, soft_wrap=True)


def _head(path: Path, labels: Labels, name: str | None = None) -> Text:
    """Return the seed of a path, after its scope where several were read."""
    scope = (f"{one_line(path.scope)}: ", "dim") if path.scope else ""
    seed = _node(name or path.seed_id, path.start, labels.get((path.scope, path.seed_id)))
    return Text.assemble(scope, seed)


def _readable(id_: str, memory: MemoryNode | None) -> str:
    text = memory.said if memory is not None and _ELEMENT_ID.fullmatch(id_) else ""
    return f"{text[:_NAME_CHARS].rstrip()}..." if len(text) > _NAME_CHARS else text or id_


def _node(id_: str, energy: float, label: str | None) -> Text:
    shown = (f"[{label}] ", "green") if label else ""
    return Text.assemble(shown, (one_line(id_), "bold"), " ", (f"{energy:.4f}", "cyan"))


def _arrow(hop: Hop) -> Text:
    relation = one_line(hop.relation)
    return Text(f"-{relation}-> " if hop.direction == "out" else f"<-{relation}- ", style="magenta")


def _reason(path: Path) -> str:
    return path.end_reason.replace("_", " ")


def _label(head: Text, reason: str, memory: MemoryNode | None) -> Text:
    """Return one node of a tree, cut at the width of the terminal."""
    label = Text(no_wrap=True, overflow="ellipsis").append_text(head)
    if reason:
        label.append(f"  ({reason})", style="dim")
    if memory is not None:
        label.append("  " + one_line(" ".join(memory.said[:SHOWN_CHARS].split())), style="dim")
    return label
