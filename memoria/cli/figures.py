"""Print the figures of an evaluation.

In: a `Report`, or cells of a table. Out: tables, as plain text in a pipe. Touches standard output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from memoria._support.wording import number_of
from memoria.cli.common import one_line, out
from memoria.cli.render import print_table
from memoria.evaluation import MEASURES, Interval, Report

SHOWN_NOTES = 3
_BOUND = re.compile(r"(?<=\()-?[\d.]+\d(?=\.\.)|(?<=\.\.)-?[\d.]+(?=\))")
GAP = 2
# Columns of names, which are aligned left; all other columns hold numbers.
NAMES = ("category", "methods", "method", "weights", "feature")


def print_report(report: Report, embedder: str | None) -> None:
    """Print the dataset, a table for each method, the differences and the times."""
    if report.items is None:
        size = [number_of(report.scopes, "scope")]
    elif report.memories is None or report.edges is None:
        size = [number_of(report.items, "message"), number_of(report.scopes, "chat")]
    else:
        size = [
            number_of(report.items, "ranked memory", "ranked memories"),
            f"{number_of(report.memories, 'memory', 'memories')} in all",
            number_of(report.edges, "edge"),
            number_of(report.scopes, "scope"),
        ]
    asked = number_of(report.questions, "question")
    kept = [asked, *size, f"embedder {embedder or 'none'}"]
    out.print(one_line(f"{report.dataset}, {report.split}: {', '.join(kept)}"), markup=False)
    for reason, number in report.left_out.items():
        out.print(f"left out: {reason} ({number})", style="dim", markup=False)
    out.print("percent of the evidence, and its interval of 95 %", style="dim")
    ks = [f"@{k}" for k in report.ks]
    for done in report.methods:
        lines = [
            (row.category, str(row.questions), *cells)
            for row in done.rows
            for cells in _cells(report, row.figures)
        ]
        print_titled(done.method, ("category", "n", "", *ks), lines)
        print_notes(done.notes)
    if report.differences:
        lines = [
            (f"{each.method} - {each.baseline}", *cells)
            for each in report.differences
            for cells in _cells(report, each.figures, sign="+")
        ]
        title = f"differences, {report.methods[0].rows[-1].category}"
        print_titled(title, ("methods", "", *ks), lines)
    times = [(m.method, f"{1000 * m.p50_s:.1f}", f"{1000 * m.p95_s:.1f}") for m in report.methods]
    print_titled("time of an answer", ("method", "p50 ms", "p95 ms"), times)


def print_notes(notes: Mapping[str, int]) -> None:
    """Print how often recalls were degraded, and why."""
    for text, number in list(notes.items())[:SHOWN_NOTES]:
        note = f"in {number_of(number, 'recall')}: {text}"
        out.print(one_line(note), style="dim", markup=False)


def _cells(
    report: Report, figures: Mapping[str, Interval], *, sign: str = ""
) -> Iterable[tuple[str, ...]]:
    """Yield a line for each measure: its name, then a cell for each k."""
    for measure in MEASURES:
        found = [figures[f"{measure}@{k}"] for k in report.ks]
        yield (measure, *(percent(each, sign) for each in found))


def percent(each: Interval, sign: str = "") -> str:
    """Return a mean with its interval, in percent; ``sign`` is "+" for a difference."""
    mean, low, high = (100 * value for value in (each.mean, each.low, each.high))
    return f"{mean:{sign}.1f} ({low:.1f}..{high:.1f})"


def print_titled(title: str, header: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Print a table below its title, fitted to the terminal."""
    out.print(f"\n{one_line(title)}", style="bold", markup=False)
    rows = [[one_line(cell) for cell in line] for line in lines]
    if out.is_terminal:
        rows = _fitted(header, rows, out.width)
    look = Table(box=SIMPLE, header_style="bold", padding=(0, 0, 0, GAP - 1))
    for name in header:
        is_name = name in NAMES
        look.add_column(
            name,
            justify="left" if is_name or not name else "right",
            overflow="fold",
            no_wrap=not is_name,
        )
    print_table(out, look, ([Text(cell) for cell in row] for row in rows))


def _fitted(header: Sequence[str], rows: list[list[str]], width: int) -> list[list[str]]:
    """Fit a wide table: put intervals below their means, and if need be round to whole percent."""
    if _width(header, rows) <= width:
        return rows
    rows = [[cell.replace(" (", "\n(") for cell in row] for row in rows]
    if _width(header, rows) <= width:
        return rows
    return [[_BOUND.sub(lambda found: f"{round(float(found[0]))}", c) for c in row] for row in rows]


def _width(header: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    columns = zip(header, *rows, strict=True)
    return GAP + sum(GAP + max(max(map(len, c.split("\n"))) for c in cells) for cells in columns)
