"""What is wrong with a database: ``doctor``."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from itertools import groupby
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from memoria.cli.common import (
    FAULTY,
    WARNED,
    Json,
    embedder_named,
    err,
    one_line,
    out,
    print_facts,
    run,
)
from memoria.cli.connection import Connection, on_store
from memoria.cli.render import print_table
from memoria.doctor import (
    LIMIT,
    SEVERITIES,
    Bucket,
    Examination,
    ExamineConfig,
    Finding,
    Hub,
    Severity,
    examine,
)
from memoria.embed import ONNX_MODELS
from memoria.store import Store

SEED = 0  # of the sample: the same database gives the same answer
BAR_CHARS = 40
_EXIT_CODES = {"warning": WARNED, "error": FAULTY}
_MARKS: dict[Severity, tuple[str, str]] = {
    "ok": ("✓", "green"),
    "note": ("•", "cyan"),
    "warning": ("!", "yellow"),
    "error": ("✗", "bold red"),
}


def doctor(
    scope: Annotated[str | None, typer.Option(help="Scope to examine; all if left out.")] = None,
    sample: Annotated[
        int, typer.Option(min=0, max=1_000, help="Explorations to sample for the hubs.")
    ] = 20,
    limit: Annotated[
        int, typer.Option(min=1, help="Memories, and edges, to look at; at most.")
    ] = LIMIT,
    embedder: Annotated[
        str | None,
        typer.Option(help=f"Embedder that will be used, to compare: {', '.join(ONNX_MODELS)}."),
    ] = None,
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Examine server, indexes, memories, edges, energy and plans; change nothing.

    Each finding comes with what helps and the command for it; one that ends with a semicolon is
    Cypher, to be run in cypher-shell or the Neo4j Browser. Exit code 4: the worst is a warning;
    5: an error.

    With --json one document: severity, scope, server, settings, findings (check, severity,
    message, remedy, command, count, examples), histogram, hubs, explored.

    Examples
    --------
    memoria doctor
    memoria doctor --scope alice --embedder bge-small-en-v1.5-q
    memoria doctor --json | jq '.findings[] | select(.severity == "error")'
    """
    model = embedder_named(embedder) if embedder else None
    config = ExamineConfig(sample=sample, limit=limit, options=connection.as_options())

    async def look(store: Store) -> Examination:
        rng = random.Random(SEED)  # noqa: S311  # a sample, no secret
        return await examine(store, scope=scope, embedder=model, config=config, rng=rng)

    with err.status("examining the database"):
        found: Examination = run(on_store(connection, look))
    if as_json:
        print_facts({"severity": found.severity, **asdict(found)}, True, "")
    else:
        show(found, out)
    raise typer.Exit(_EXIT_CODES.get(found.severity, 0))


def show(found: Examination, console: Console) -> None:
    """Print an examination: findings by theme, what to do, degrees, hubs, the sum of it."""
    for theme, findings in groupby(found.findings, lambda finding: finding.theme):
        _heading(console, theme)
        _print_rows(console, [_finding_row(each, console.is_terminal) for each in findings])
    remedies = [finding for finding in found.findings if finding.remedy]
    if remedies:
        _heading(console, "what helps")
        for finding in remedies:
            _print_remedy(console, finding)
    if found.histogram:
        _heading(console, "memories by number of edges")
        _print_rows(console, list(_bars(found.histogram)))
    if found.hubs:
        _heading(console, f"hubs that absorb most energy, in {found.explored} explorations")
        _print_rows(console, list(_hub_rows(found.hubs)))
    console.print()
    console.print(_sum(found))


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, style="bold"))


def _finding_row(finding: Finding, on_terminal: bool) -> tuple[Text, ...]:
    mark, style = _MARKS[finding.severity]
    name = finding.check.removeprefix(f"{finding.theme}.")
    dim = "dim" if finding.severity == "ok" else ""
    return (
        Text(mark if on_terminal else finding.severity, style=style),
        Text(name, style=dim),
        Text(one_line(finding.message), style=dim),
    )


def _print_rows(console: Console, rows: list[tuple[Text, ...]]) -> None:
    """Print rows without a frame; on a narrow terminal no name is cut."""
    columns = [Column(overflow="fold") for _ in rows[0]]
    look = Table.grid(*columns, padding=(0, 2, 0, 0))
    print_table(console, look, rows, indent=2)


def _print_remedy(console: Console, finding: Finding) -> None:
    """Print what to do; the command stands alone on its line, to be copied."""
    style = _MARKS[finding.severity][1]
    lines = [Text.assemble("  ", (finding.check, style), f": {one_line(finding.remedy)}")]
    if finding.examples:
        more = ", ..." if finding.count > len(finding.examples) else ""
        lines.append(Text(f"    such as {one_line(', '.join(finding.examples))}{more}", "dim"))
    if finding.command:
        lines.append(Text(f"    {one_line(finding.command)}"))
    for line in lines:
        console.print(line, soft_wrap=True)


def _bars(histogram: Iterable[Bucket]) -> Iterable[tuple[Text, ...]]:
    buckets = list(histogram)
    most = max(bucket.count for bucket in buckets)
    width = len(f"{most:,}")
    for bucket in buckets:
        name = str(bucket.low) if bucket.low == bucket.high else f"{bucket.low} to {bucket.high}"
        # A bucket with anything in it shows.
        size = -(-bucket.count * BAR_CHARS // most)
        yield Text(name), Text(f"{bucket.count:>{width},}"), Text("█" * size, style="cyan")


def _hub_rows(hubs: Iterable[Hub]) -> Iterable[tuple[Text, ...]]:
    yield tuple(Text(name, style="dim") for name in ("share", "edges", "lost", "memory", "scope"))
    for hub in hubs:
        yield (
            Text(f"{hub.share:.1%}"),
            Text(f"{hub.degree:,}"),
            Text(f"{hub.lost:.3f}"),
            Text(one_line(hub.id)),
            Text(one_line(hub.scope)),
        )


def _sum(found: Examination) -> Text:
    """Return how many findings there are of each severity, worst first."""
    counts = Counter(finding.severity for finding in found.findings)
    parts = [
        f"{counts[name]} {name}{'s' if counts[name] > 1 and name != 'ok' else ''}"
        for name in reversed(SEVERITIES)
        if counts[name]
    ]
    return Text(", ".join(parts), style=_MARKS[found.severity][1])
