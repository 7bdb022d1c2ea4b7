"""Count, describe and export the contents of a scope: ``stats``, ``relations``, ``export``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from memoria._support.progress import progress_bars, silent
from memoria._support.wording import number_of
from memoria.cli.common import Json, Scope, is_given, one_line, out, print_json, warn
from memoria.cli.connection import Connection
from memoria.cli.mapping import MappedConnection
from memoria.cli.nothing import no_memories
from memoria.cli.output import STDOUT, check_output, opened_lines, vault
from memoria.cli.render import print_table
from memoria.graph.roles import declare_roles, declared_roles
from memoria.graph.stats import (
    RelationStats,
    ScopeSize,
    ScopeStats,
    list_scopes,
    relation_stats,
    scope_stats,
)
from memoria.ingest.export import Skipped, export_lines
from memoria.store import Store
from memoria.types import RelationRoles
from memoria.types.roles import ROLE_NAMES

LINES_PER_STEP = 1_000
MAX_PROBLEMS = 20
_PLURAL = {"memory": "memories", "edge": "edges", "field": "fields"}

Row = Sequence[str | int]


def stats(
    context: typer.Context,
    scope: Scope = "default",
    every: Annotated[bool, typer.Option("--all", help="List the scopes instead.")] = False,
    *,
    connection: MappedConnection,
    as_json: Json = False,
) -> None:
    """Count the memories and edges of a scope, or list all scopes.

    `--json` prints scope, memories, embedded, kinds, connectors, edges, relations, top_tags,
    top_edge_tags, oldest, newest, mean_degree and max_degree. With `--all` it prints scopes: scope,
    memories and edges of each.

    Examples
    --------
    memoria stats --scope alice
    memoria stats --all --json
    """
    if every and is_given(context, "scope"):
        raise typer.BadParameter("--all lists every scope: leave --scope out", param_hint="--all")
    if every:
        sizes: tuple[ScopeSize, ...] = connection.run(list_scopes)
        if as_json:
            print_json({"scopes": [asdict(size) for size in sizes]})
        elif sizes:
            rows = [(size.scope, size.memories, size.edges) for size in sizes]
            _print_table(("scope", "memories", "edges"), rows)
        else:
            out.print("there are no memories yet: write some with memoria ingest")
        return

    connection.check_scope(scope)

    async def look(store: Store) -> tuple[ScopeStats, str]:
        found = await scope_stats(store, scope)
        there = found.memories or found.connectors
        return found, "" if there else await no_memories(store, scope)

    found, empty = connection.run(look)
    if as_json:
        print_json(_plain(found))
    elif empty:
        out.print(empty, markup=False)
    else:
        _print_stats(found)


def relations(
    scope: Scope = "default",
    need: Annotated[
        list[str] | None,
        typer.Option(help='Relation whose source can\'t be used without its target; "" for none.'),
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(help='Relation between neighbours in a text or talk; "" for none.'),
    ] = None,
    undeclare: Annotated[
        bool, typer.Option("--undeclare", help="First remove all earlier declarations.")
    ] = False,
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """List the relations of a scope, and declare what they mean.

    Each option may be repeated, and replaces earlier declarations of this role. `--json` prints
    scope, declared (need and order; null: not declared) and relations: count, mean_weight and role
    of each.

    Examples
    --------
    memoria relations --scope tools
    memoria relations --scope tools --need USES --need CALLS
    memoria relations --scope code --need ""
    memoria relations --scope tools --undeclare
    """
    given = {
        role: tuple(name for name in names if name)
        for role, names in (("need", need), ("order", order))
        if names is not None
    }

    async def look(store: Store) -> tuple[RelationRoles, dict[str, RelationStats], str]:
        before = RelationRoles() if undeclare else await declared_roles(store, scope)
        roles = replace(before, **given)
        if given or undeclare:
            await declare_roles(store, scope, roles)
        found = await relation_stats(store, scope)
        return roles, found, "" if found else await no_memories(store, scope)

    roles, found, empty = connection.run(look)
    role_of = {name: role for role in ROLE_NAMES for name in getattr(roles, role) or ()}
    rows = [(name, each.count, role_of.get(name.lower(), "")) for name, each in found.items()]
    if as_json:
        listed = {name: {**asdict(found[name]), "role": role or None} for name, _, role in rows}
        print_json({"scope": scope, "declared": asdict(roles), "relations": listed})
        return
    if rows:
        _print_table(("relation", "edges", "declared as"), rows)
    else:
        out.print(empty, markup=False)
    for name in sorted(role_of.keys() - {name.lower() for name in found}):
        out.print(f"no edge has the relation {one_line(name)}, declared as {role_of[name]}")


def export(
    scope: Scope = "default",
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="File, compressed if it ends in .gz; - is stdout. A folder for markdown.",
        ),
    ] = STDOUT,
    format: Annotated[  # noqa: A002  # the name in the help
        Literal["jsonl", "markdown"],
        typer.Option(help="jsonl: one file. markdown: a folder with a note for each memory."),
    ] = "jsonl",
    embeddings: Annotated[
        bool | None,
        typer.Option(
            "--embeddings/--no-embeddings",
            help="Also write the vectors; by default in jsonl only.",
            show_default=False,
        ),
    ] = None,
    *,
    connection: Connection,
) -> None:
    """Write a scope in a form that memoria ingest reads: memories, edges, and what it learned.

    Values that an export can't hold, such as properties of another program, are counted on stderr.

    A file or folder gets its name only when it is complete, and only its owner can read a file.

    Examples
    --------
    memoria export --scope alice --output alice.jsonl.gz
    memoria export --scope alice | memoria ingest - --scope bob --embedder none
    memoria export --scope alice --format markdown --output alice-vault
    """
    notes = format == "markdown"
    if notes and (output == STDOUT or Path(output).exists()):
        raise typer.BadParameter("name a folder that does not exist", param_hint="--output")
    if not notes:
        check_output(output)
    problems = _Problems()

    async def write(store: Store) -> tuple[int, str]:
        lines = 0
        show = nullcontext(silent) if output == STDOUT else progress_bars()
        with vault(output) if notes else opened_lines(output) as write_line, show as progress:
            async for line in export_lines(
                store,
                scope=scope,
                embeddings=not notes if embeddings is None else embeddings,
                on_skipped=problems.add,
            ):
                write_line(line)
                lines += 1
                if lines % LINES_PER_STEP == 0:
                    progress("lines", lines, None)
            progress("lines", lines, lines)
        return lines, "" if lines else await no_memories(store, scope)

    lines, empty = connection.run(write)
    problems.show()
    if not lines:
        warn(empty)
    elif output != STDOUT:
        out.print(f"{number_of(lines, 'line')} written to {one_line(output)}", markup=False)


class _Problems:
    """Values that an export left out, counted by reason, with the first value of each."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[int, Skipped]] = {}

    def add(self, problem: Skipped) -> None:
        """Count one value."""
        key = (problem.what, problem.field)
        number, first = self._found.get(key, (0, problem))
        self._found[key] = (number + problem.count, first)

    def show(self) -> None:
        """Print the counts on stderr, one line for each reason."""
        for number, first in list(self._found.values())[:MAX_PROBLEMS]:
            what = number_of(number, first.what, _PLURAL[first.what])
            name = f", first of {first.name!r}" if first.name else ""
            warn(one_line(f"left out: {what}, {first.field}: {first.reason}{name}"))
        if len(self._found) > MAX_PROBLEMS:
            warn(f"and {number_of(len(self._found) - MAX_PROBLEMS, 'other reason')}")


def _plain(found: ScopeStats) -> dict[str, Any]:
    """Return the counts as JSON values."""
    times = {name: getattr(found, name) for name in ("oldest", "newest")}
    return asdict(found) | {name: time and time.isoformat() for name, time in times.items()}


def _print_stats(found: ScopeStats) -> None:
    facts: list[Row] = [
        ("scope", found.scope),
        ("memories", found.memories),
        ("with a vector", found.embedded),
        *([("vectors pending", found.pending_vectors)] if found.pending_vectors else []),
        *([("connectors", sum(found.connectors.values()))] if found.connectors else []),
        ("edges", found.edges),
        ("edges of a memory", f"{found.mean_degree:.1f} on average, {found.max_degree} at most"),
    ]
    if found.oldest and found.newest:
        facts.append(("made", f"{found.oldest:%Y-%m-%d} to {found.newest:%Y-%m-%d}"))
    relations: list[Row] = [
        (name, each.count, "" if each.mean_weight is None else f"{each.mean_weight:.3f}")
        for name, each in found.relations.items()
    ]
    _print_table(("", ""), facts)
    for header, rows in (
        (("kind", "memories"), list(found.kinds.items())),
        (("connector", "number"), list(found.connectors.items())),
        (("relation", "edges", "mean weight"), relations),
        (("tag", "memories"), list(found.top_tags.items())),
        (("tag", "edges"), list(found.top_edge_tags.items())),
    ):
        if rows:
            if not out.is_terminal:  # on a terminal the table has its own space around it
                out.print()
            _print_table(header, rows)


def _print_table(header: Sequence[str], rows: Sequence[Row]) -> None:
    """Print a table; with a header, all columns but the first hold numbers."""
    look = Table(box=SIMPLE, show_header=any(header), header_style="bold")
    for place, name in enumerate(header):
        is_number = place > 0 and any(header)
        look.add_column(name, justify="right" if is_number else "left", overflow="fold")
    print_table(out, look, ([Text(one_line(str(cell))) for cell in row] for row in rows))
