"""Print paths and tables: drawn on a terminal, elsewhere one line for each path or row.

On a terminal, the paths of a seed form a growing tree.
In: paths as they end, rows. Out: text on a console.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence

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


async def show_paths(paths: AsyncIterator[Path], console: Console) -> None:
    """Show each path as soon as it ends."""
    # With FORCE_COLOR, the console takes even a pipe for a terminal.
    if not (console.is_interactive and console.file.isatty()):
        async for path in paths:
            console.print(path_line(path), soft_wrap=True)
        return
    forest = Forest()
    with Live(forest.view, console=console, refresh_per_second=REFRESHES_PER_S) as live:
        async for path in paths:
            if forest.add(path):  # show a new tree at once, a new branch with the next refresh
                live.refresh()
        forest.sort()


def path_line(path: Path) -> Text:
    """Return a path as one line: ids, the energy that reached each id, and relations."""
    line = _node(path.seed_id, path.start)
    for hop in path.hops:
        line.append(" ").append_text(_arrow(hop)).append_text(_node(hop.target, hop.energy_out))
    return line.append(f"  ({_reason(path)})", style="dim")


class Forest:
    """Paths as one tree for each seed; the trees grow while they are shown."""

    def __init__(self) -> None:
        self.view = Tree("", hide_root=True, guide_style="dim")
        self._nodes: dict[tuple[str, ...], Tree] = {}
        self._energies: dict[int, float] = {}

    def add(self, path: Path) -> bool:
        """Add a path; return whether it is the first path of its seed."""
        memories = path.memories or (None,) * len(path.ids)
        heads = [_node(path.seed_id, path.start)]
        heads += [_arrow(hop).append_text(_node(hop.target, hop.energy_out)) for hop in path.hops]
        energies = [path.start, *(hop.energy_out for hop in path.hops)]
        node, is_new = self.view, path.ids[:1] not in self._nodes
        for place, (head, memory) in enumerate(zip(heads, memories, strict=True), start=1):
            ids = path.ids[:place]
            if ids not in self._nodes:
                reason = _reason(path) if place == len(heads) else ""
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
    reached = {id_ for path in paths for id_ in path.ids} - connectors_on(paths)
    cut = sum(exploration.status == "truncated" for exploration in explorations)
    counts = (
        number_of(len(explorations), "seed", "seeds"),
        number_of(len(paths), "path", "paths"),
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


def _node(id_: str, energy: float) -> Text:
    return Text.assemble((one_line(id_), "bold"), " ", (f"{energy:.4f}", "cyan"))


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
