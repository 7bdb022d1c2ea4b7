"""The option ``--mapping``, and ``adopt``, which makes and checks what it takes.

In: the name of a known graph, or a file. Out: a store that reads through the mapping; text.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memoria._support.progress import progress_bars
from memoria._support.wording import number_of
from memoria.cli.common import (
    EXIT_CODES,
    Json,
    Scope,
    err,
    hint,
    out,
    print_facts,
    print_json,
    print_text,
    warn,
)
from memoria.cli.connection import Connection
from memoria.cli.embedders import EmbedderName
from memoria.errors import MappingError

if TYPE_CHECKING:  # the driver takes long to load, and `memoria mcp` greets before that
    from memoria.graph.mapping import GraphMapping
    from memoria.graph.mapping.checking import Problem
    from memoria.graph.mapping.detecting import Proposal
    from memoria.ingest.overlay import OverlayReport
    from memoria.store import Store


MappingFile = Annotated[
    str | None,
    typer.Option(
        "--mapping",
        metavar="FILE",
        help="Read the graph of another program by this mapping; memoria adopt makes one.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedConnection(Connection):
    """The options that name a database, and how to read a graph that another program made."""

    mapping: MappingFile = None

    def adapted(self, store: Store) -> Store:
        """Return a store that reads through the mapping, if one is given."""
        if self.mapping is None:
            return store
        from memoria.graph.mapping.reading import MappedGraph

        return store.translated(partial(MappedGraph, mapping_of(self.mapping)))

    @property
    def plain(self) -> Connection:
        """The connection alone, without the mapping."""
        given = {field.name: getattr(self, field.name) for field in fields(Connection)}
        return Connection(**given)

    def check_scope(self, scope: str) -> None:
        """Refuse a scope that the mapping does not know, and a mapping that can't be read."""
        if self.mapping is not None:
            from memoria.graph.mapping.reading import scope_of

            scope_of(mapping_of(self.mapping), scope)


def mapping_of(given: str) -> GraphMapping:
    """Return the mapping of a known graph, or the one in a file.

    Raises
    ------
    MappingError
        The file can't be read, or does not say a mapping.
    """
    from memoria.graph.mapping.model import load_mapping, named_mapping, names_of_mappings

    if given in names_of_mappings() and not Path(given).exists():
        return named_mapping(given)
    if not Path(given).exists():
        raise MappingError(
            f"there is no file {given}, and no known graph of this name: the known graphs are "
            f"{', '.join(names_of_mappings())}. memoria adopt --detect > {given} makes a file"
        )
    return load_mapping(given)


def adopt(
    mapping: Annotated[
        str | None, typer.Argument(help="File with a mapping, or the name of a known graph.")
    ] = None,
    detect: Annotated[
        bool, typer.Option("--detect", help="Look at the database, and propose a mapping.")
    ] = False,
    create_indexes: Annotated[
        bool, typer.Option("--create-indexes", help="Create the indexes that are missing.")
    ] = False,
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Copy a scope into memoria's own graph.")
    ] = False,
    scope: Scope = "default",
    embedder: EmbedderName = None,
    limit: Annotated[
        int, typer.Option(min=1, help="Most nodes, and relationships, of each kind to examine.")
    ] = 1_000_000,
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Read the graph of another program: propose a mapping, or check one against the database.

    --detect prints a mapping (TOML) and the evidence for it; the name of a known graph prints its
    mapping. A file is checked; exit code 4: parts of the graph are left out; 5: the graph can't be
    read through it.

    --json prints severity, mapping and problems (text, stops, statement, waits of each); with
    --detect based_on, counts, left_out, samples, problems and mapping.

    Only two options write. --create-indexes prints each statement and runs it. --overlay copies the
    nodes and edges of a scope into memoria's own graph, as scope NAME/SCOPE, where you can add to
    the copy and let it learn. Leave --scope out if the mapping names no scope property. Run it
    again to copy changes and to delete edges that have ended; memoria forget-scope NAME/SCOPE
    removes the copy.

    Examples
    --------
    memoria adopt --detect > graph.toml
    memoria adopt graph.toml
    memoria adopt graph.toml --create-indexes
    memoria adopt graphiti > graph.toml
    memoria adopt graph.toml --overlay --scope demo
    """
    if detect == (mapping is not None):
        raise typer.BadParameter("give a mapping, or --detect", param_hint="MAPPING")
    if mapping is None:
        _detect(connection, as_json)
        return
    found = mapping_of(mapping)
    if not Path(mapping).exists() and not (create_indexes or overlay):
        from memoria.graph.mapping.model import text_of_named

        text = text_of_named(mapping)
        print_facts({"mapping": text}, as_json, text.rstrip())
        return
    if create_indexes:
        _create(found, connection)
    if overlay:
        _overlay(found, connection, scope, embedder, as_json)
        return
    check_mapping(found, connection, limit, as_json)


def _detect(connection: Connection, as_json: bool) -> None:
    from memoria.graph.mapping.detecting import detect
    from memoria.graph.mapping.model import toml_of

    with err.status("looking at the database"):
        proposal: Proposal = connection.run(detect)
    if as_json:
        print_json(
            {
                "based_on": proposal.based_on,
                "counts": dict(proposal.counts),
                "left_out": dict(proposal.left_out),
                "samples": dict(proposal.samples),
                "scopes": list(proposal.scopes),
                "problems": [asdict(problem) for problem in proposal.problems],
                "mapping": toml_of(proposal.mapping),
            }
        )
        return
    print_text(proposal.toml().rstrip())
    if any(problem.statement for problem in proposal.problems):
        warn("indexes are missing: memoria adopt FILE --create-indexes makes them")


def _create(mapping: GraphMapping, connection: Connection) -> None:
    from memoria.cli.warming import plan_mapped_recalls
    from memoria.graph.mapping.creating import create_indexes

    announce = partial(err.print, markup=False)

    async def work(store: Store) -> int:
        made = await create_indexes(store, mapping, announce)
        if made:
            # Errors in the mapping are reported by the next step.
            await plan_mapped_recalls(store, mapping)
        return made

    made = connection.run(work)
    hint(f"created {made}" if made else "no index to create")


def _overlay(
    mapping: GraphMapping, connection: Connection, scope: str, embedder: str | None, as_json: bool
) -> None:
    from memoria.cli.embedders import embedder_choice, load_model
    from memoria.cli.nothing import say_nothing_found
    from memoria.graph.mapping.reading import MappedGraph, scope_of
    from memoria.ingest.overlay import overlay

    read, choose = scope_of(mapping, scope) or scope, embedder_choice(embedder)

    async def work(store: Store) -> OverlayReport:
        model = await choose(store)
        await load_model(model)
        with progress_bars() as progress:
            done = await overlay(store, mapping, scope=read, embedder=model, progress=progress)
        if not done.written.memories + done.written.skipped:
            await say_nothing_found(store.translated(partial(MappedGraph, mapping)), read)
        return done

    done = connection.run(work)
    written = done.written
    counts = {
        "scope": done.scope,
        "memories": written.memories,
        "memories_created": written.memories_created,
        "relations": written.relations,
        "relations_created": written.relations_created,
        "ended": done.ended,
        "skipped": written.skipped,
        "problems": list(written.problems),
    }
    line = (
        f"{number_of(written.memories, 'memory', 'memories')} "
        f"({written.memories_created} new) and {number_of(written.relations, 'edge')} "
        f"({written.relations_created} new) copied, {number_of(done.ended, 'edge')} ended, "
        f"{written.skipped} left out; scope {done.scope}"
    )
    print_facts(counts, as_json, line)


def check_mapping(mapping: GraphMapping, connection: Connection, limit: int, as_json: bool) -> None:
    """Compare a mapping with a database, in full, and show what does not fit."""
    from memoria.graph.mapping.examining import examine_mapping

    with err.status("examining the graph"):
        problems = connection.run(lambda store: examine_mapping(store, mapping, limit=limit))
    show_problems(mapping, problems, as_json)


def show_problems(mapping: GraphMapping, problems: list[Problem], as_json: bool) -> None:
    """Print what does not fit, and end with the exit code that says how bad it is."""
    severity = "error" if any(p.stops for p in problems) else "warning" if problems else "ok"
    if as_json:
        listed = [asdict(problem) for problem in problems]
        print_json({"severity": severity, "mapping": mapping.name, "problems": listed})
    else:
        for problem in problems:
            kind, style = ("error", "red") if problem.stops else ("note", "yellow")
            out.print(f"{kind}: {problem.text}", style=style, markup=False)
            if problem.statement:
                out.print(f"  {problem.statement};", markup=False)
        if not problems:
            out.print(f"the mapping {mapping.name!r} fits", markup=False)
    if severity in EXIT_CODES:
        raise typer.Exit(EXIT_CODES[severity])
