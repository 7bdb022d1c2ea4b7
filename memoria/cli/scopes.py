"""What a scope holds: ``stats``, ``export``."""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import IO, Annotated, Any, cast

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from memoria.cli.common import (
    Database,
    Json,
    PasswordFile,
    Scope,
    Uri,
    User,
    err,
    on_store,
    one_line,
    out,
    print_facts,
    run,
    target,
)
from memoria.export import Skipped, export_lines
from memoria.progress import progress_bars, silent
from memoria.stats import ScopeSize, ScopeStats, list_scopes, scope_stats
from memoria.store import Store

STDOUT = "-"
LINES_PER_STEP = 1_000
MAX_PROBLEMS = 20
_PLURAL = {"memory": "memories", "edge": "edges", "field": "fields"}

Row = Sequence[str | int]


def stats(
    scope: Scope = "default",
    every: Annotated[bool, typer.Option("--all", help="List the scopes instead.")] = False,
    uri: Uri = None,
    user: User = None,
    password_file: PasswordFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Count what a scope holds, or list all scopes.

    `--json` prints scope, memories, embedded, kinds, edges, relations, top_tags, oldest, newest,
    mean_degree and max_degree; with `--all`, scopes: scope, memories and edges of each.

    Examples
    --------
    memoria stats --scope alice
    memoria stats --all --json
    """
    where = target(uri, user, password_file, database)
    if every:
        sizes: tuple[ScopeSize, ...] = run(on_store(where, list_scopes))
        if as_json:
            print_facts({"scopes": [asdict(size) for size in sizes]}, True, "")
        elif sizes:
            rows = [(size.scope, size.memories, size.edges) for size in sizes]
            _print_table(("scope", "memories", "edges"), rows)
        else:
            out.print("there are no memories yet: write some with memoria ingest")
        return

    async def count(store: Store) -> ScopeStats:
        return await scope_stats(store, scope)

    found: ScopeStats = run(on_store(where, count))
    if as_json:
        print_facts(_plain(found), True, "")
    elif found.memories:
        _print_stats(found)
    else:
        out.print(_is_empty(scope), markup=False)


def export(
    scope: Scope = "default",
    output: Annotated[
        str, typer.Option("--output", "-o", help="File, packed if it ends in .gz; - is stdout.")
    ] = STDOUT,
    embeddings: Annotated[
        bool, typer.Option("--embeddings/--no-embeddings", help="Write the vectors, too.")
    ] = True,
    uri: Uri = None,
    user: User = None,
    password_file: PasswordFile = None,
    database: Database = None,
) -> None:
    """Write a scope as JSON Lines, which memoria ingest reads: memories, then edges.

    What the lines have no place for, such as learning counters, is counted on stderr.

    A file gets its name only when it is complete, and only its owner can read it.

    Examples
    --------
    memoria export --scope alice --output alice.jsonl.gz
    memoria export --scope alice | memoria ingest - --scope bob --embedder none
    """
    problems = _Problems()

    async def write(store: Store) -> int:
        lines = 0
        show = nullcontext(silent) if output == STDOUT else progress_bars()
        with opened(output) as stream, show as progress:
            async for line in export_lines(
                store, scope=scope, embeddings=embeddings, on_skipped=problems.add
            ):
                stream.write(line.encode("utf-8") + b"\n")
                lines += 1
                if lines % LINES_PER_STEP == 0:
                    progress("lines", lines, None)
            progress("lines", lines, lines)
        return lines

    lines: int = run(on_store(target(uri, user, password_file, database), write))
    problems.show()
    if not lines:
        err.print(_is_empty(scope), style="yellow", markup=False)
    elif output != STDOUT:
        out.print(f"{lines} lines written to {one_line(output)}", markup=False)


class _Problems:
    """What an export left out, counted by what is wrong, with the first of each."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[int, Skipped]] = {}

    def add(self, problem: Skipped) -> None:
        """Count one."""
        key = (problem.what, problem.field)
        count, first = self._found.get(key, (0, problem))
        self._found[key] = (count + problem.count, first)

    def show(self) -> None:
        """Print them on stderr, a line each."""
        for count, first in list(self._found.values())[:MAX_PROBLEMS]:
            what = first.what if count == 1 else _PLURAL[first.what]
            name = f", first of {first.name!r}" if first.name else ""
            line = f"left out: {count} {what}, {first.field}: {first.reason}{name}"
            err.print(one_line(line), style="yellow", markup=False)
        if len(self._found) > MAX_PROBLEMS:
            more = len(self._found) - MAX_PROBLEMS
            err.print(f"and {more} other reasons", style="yellow", markup=False)


@contextmanager
def opened(output: str) -> Iterator[IO[bytes]]:
    """Open the output; a file gets its name only when nothing went wrong."""
    path = Path(output)
    if output == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif path.exists() and not path.is_file():  # a pipe or a device, which nothing may replace
        with path.open("wb") as stream:
            yield stream
    else:
        path = path.resolve()  # a link stays one
        number, name = tempfile.mkstemp(prefix=".memoria-export-", dir=path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                if path.suffix == ".gz":  # without name and time: equal content, equal bytes
                    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                        yield cast(IO[bytes], packed)
                else:
                    yield file
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)


def _plain(found: ScopeStats) -> dict[str, Any]:
    """Return the numbers as JSON has them."""
    times = {name: getattr(found, name) for name in ("oldest", "newest")}
    return asdict(found) | {name: time and time.isoformat() for name, time in times.items()}


def _print_stats(found: ScopeStats) -> None:
    facts: list[Row] = [
        ("scope", found.scope),
        ("memories", found.memories),
        ("with a vector", found.embedded),
        ("edges", found.edges),
        ("edges of a memory", f"{found.mean_degree:.1f} on average, {found.max_degree} at most"),
    ]
    if found.oldest and found.newest:
        facts.append(("written", f"{found.oldest:%Y-%m-%d} to {found.newest:%Y-%m-%d}"))
    relations: list[Row] = [
        (name, each.count, "" if each.mean_weight is None else f"{each.mean_weight:.3f}")
        for name, each in found.relations.items()
    ]
    _print_table(("", ""), facts)
    for header, rows in (
        (("kind", "memories"), list(found.kinds.items())),
        (("relation", "edges", "mean weight"), relations),
        (("tag", "memories"), list(found.top_tags.items())),
    ):
        if rows:
            if not out.is_terminal:  # where a table has room around it
                out.print()
            _print_table(header, rows)


def _print_table(header: Sequence[str], rows: Sequence[Row]) -> None:
    """Print a table on a terminal, else columns that line up."""
    cells = [[one_line(str(cell)) for cell in row] for row in rows]
    right = [column > 0 and any(header) for column in range(len(header))]
    if out.is_terminal:
        table = Table(box=SIMPLE, show_header=any(header), header_style="bold")
        for name, is_number in zip(header, right, strict=True):
            table.add_column(name, justify="right" if is_number else "left")
        for row in cells:
            table.add_row(*map(Text, row))
        out.print(table)
        return
    lines = [list(header), *cells] if any(header) else cells
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for row in lines:
        parts = [
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(row, widths, right, strict=True)
        ]
        out.print("  ".join(parts).rstrip(), markup=False)


def _is_empty(scope: str) -> str:
    return f"scope {scope!r} has no memories; memoria stats --all lists the scopes"
