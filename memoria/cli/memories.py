"""Set a database up, write and delete memories: ``init``, ``ingest``, ``forget``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Annotated, Literal

import typer

from memoria._support.checks import MAX_DIMENSIONS, check_id
from memoria._support.progress import progress_bars
from memoria._support.wording import number_of
from memoria.cli.common import (
    FAILED,
    INTERRUPTED,
    EmbedderName,
    Json,
    Scope,
    embedder_named,
    err,
    load_model,
    one_line,
    print_facts,
    run,
    say_missing,
)
from memoria.cli.connection import Connection, on_store
from memoria.cli.link import linker_named
from memoria.embed import DEFAULT_ONNX_MODEL
from memoria.graph.memories import hydrate
from memoria.graph.schema import SchemaReport, apply_schema
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.ingest import GraphWriter, IngestReport, ingest_files
from memoria.store import Store
from memoria.types import ForgetReport, WriteReport

READ_AT_ONCE = 1_000
SHOWN = 10


def init(
    *,
    connection: Connection,
    embedder: EmbedderName = DEFAULT_ONNX_MODEL,
    dimensions: Annotated[
        int | None,
        typer.Option(
            min=1, max=MAX_DIMENSIONS, help="Size of your own vectors, with --embedder none."
        ),
    ] = None,
    kinds: Annotated[
        bool,
        typer.Option("--kinds", help="Also index the id of each kind, for queries of your own."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Create constraints and indexes, and wait until they are online. Safe to run again.

    Examples
    --------
    memoria init
    memoria init --embedder none --dimensions 768
    memoria init --uri neo4j://db.example.org --user ada --password-file secret.txt
    """
    model = embedder_named(embedder)
    if model is not None and dimensions is not None:
        raise typer.BadParameter(
            "an embedder sets the size: use --dimensions with --embedder none",
            param_hint="--dimensions",
        )

    async def apply(store: Store) -> SchemaReport:
        return await apply_schema(store, embedder=model, dimensions=dimensions, kinds=kinds)

    report: SchemaReport = run(on_store(connection, apply))
    facts = {
        "version": report.facts.version,
        "edition": report.facts.edition,
        "indexes": dict(report.facts.indexes),
        "created": report.created,
        "existing": report.existing,
    }
    made = f"created {', '.join(report.created)}" if report.created else "nothing to create"
    print_facts(facts, as_json, f"{made}; all indexes are online (Neo4j {report.facts.version})")


def ingest(
    files: Annotated[list[str], typer.Argument(help="JSON Lines, also .gz; - is stdin.")],
    scope: Scope = "default",
    *,
    connection: Connection,
    embedder: EmbedderName = DEFAULT_ONNX_MODEL,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="One more kind that memories may have; may be repeated."),
    ] = None,
    link: Annotated[
        Literal["composite", "similarity", "none"],
        typer.Option(help="Link new memories with similar memories; see memoria link."),
    ] = "none",
    skip_invalid: Annotated[
        bool, typer.Option(help="Leave out wrong lines, and count them.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write memories and edges from files. Safe to run again after an interruption.

    Examples
    --------
    memoria ingest memories.jsonl
    memoria ingest notes.jsonl.gz edges.jsonl --scope ada --kind Note
    cat memories.jsonl | memoria ingest - --link composite
    """
    model = embedder_named(embedder)

    async def write(store: Store) -> IngestReport:
        writer = GraphWriter(
            store,
            scope=scope,
            embedder=model,
            kinds=(*DEFAULT_KINDS, *(kind or ())),
            linker=linker_named(link, store, scope),
        )
        await writer.ready()  # fail before a model is downloaded
        await load_model(model)
        with progress_bars() as progress:
            return await ingest_files(writer, files, skip_invalid=skip_invalid, progress=progress)

    report: IngestReport = run(on_store(connection, write))
    for problem in report.problems:
        err.print(problem, style="yellow", markup=False)
    done = report.written
    if done.duplicates:
        repeated = number_of(done.duplicates, "memory", "memories")
        err.print(
            f"{repeated} with an id that comes again: the last memory of an id counts",
            style="yellow",
            markup=False,
        )
    facts = {"lines": report.lines, **asdict(done), "problems": report.problems}
    print_facts(facts, as_json, _ingested(done, scope, linked=link != "none"))


def _ingested(done: WriteReport, scope: str, *, linked: bool) -> str:
    """Return the counts of an ingest in words."""
    parts = [
        f"{number_of(done.memories, 'memory', 'memories')} "
        f"({done.memories_created} new, {done.embedded} embedded)",
        f"{number_of(done.relations, 'edge', 'edges')} ({done.relations_created} new)",
        f"{number_of(done.skipped, 'line', 'lines')} skipped",
    ]
    if linked:
        parts.insert(2, f"{number_of(done.links, 'link', 'links')} ({done.links_created} new)")
    if done.unlinked:
        parts.insert(3, f"{done.unlinked} not linked without a vector")
    first = (
        "the database was not set up, so its indexes were created; " if done.schema_created else ""
    )
    return f"{first}{', '.join(parts)}; scope {one_line(scope)}"


def forget(
    ids: Annotated[list[str], typer.Argument(help="Ids of memories; - reads them from stdin.")],
    scope: Scope = "default",
    *,
    connection: Connection,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    delete_foreign: Annotated[
        bool,
        typer.Option("--delete-foreign", help="Also delete nodes that hold more than a memory."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Delete memories with all their edges. Asks first; without a terminal it needs --yes.

    A node that holds more than a memory (other labels, properties or relationships) stays, but
    loses its text and everything else that memoria stores; --delete-foreign deletes it.

    Examples
    --------
    memoria forget evt-062 evt-063 --scope ada
    cut -f1 outdated.tsv | memoria forget - --yes
    """
    if not yes and ("-" in ids or not sys.stdin.isatty()):
        raise typer.BadParameter(
            "without a terminal nobody can be asked: add --yes", param_hint="--yes"
        )
    wanted = list(dict.fromkeys(map(check_id, _given_ids(ids))))
    there = run(on_store(connection, lambda store: _those_there(store, wanted, scope)))
    done = ForgetReport()
    if there:
        if not yes:  # ask outside of the event loop, which would swallow a Ctrl-C
            _confirm(there, scope)

        async def work(store: Store) -> ForgetReport:
            writer = GraphWriter(store, scope=scope)
            return await writer.forget(there, delete_foreign=delete_foreign)

        done = run(on_store(connection, work))
    missing = sorted(set(wanted).difference(there))
    say_missing(missing, scope)
    stays = "; its node stays, as it holds more than a memory: --delete-foreign deletes it"
    lines = [f"forgot {one_line(id_)}{stays if id_ in done.kept else ''}" for id_ in there]
    facts = {"forgotten": there, "kept": done.kept, "missing": missing}
    print_facts(facts, as_json, "\n".join(lines) or "nothing to forget")


def _given_ids(ids: Iterable[str]) -> Iterator[str]:
    """Yield the ids of the command line, and the ids on standard input for ``-``."""
    for id_ in ids:
        if id_ == "-":
            for line in sys.stdin.buffer:
                if line.strip():
                    yield line.rstrip(b"\r\n").decode("utf-8", errors="surrogateescape")
        else:
            yield id_


async def _those_there(store: Store, ids: list[str], scope: str) -> list[str]:
    there: list[str] = []
    for start in range(0, len(ids), READ_AT_ONCE):
        batch = ids[start : start + READ_AT_ONCE]
        found = await hydrate(store, batch, scope=scope, until=None)
        there += [id_ for id_ in batch if id_ in found]
    return there


def _confirm(ids: list[str], scope: str) -> None:
    """Ask on the terminal; the answer no, or Ctrl-C, ends the command."""
    shown = ", ".join(map(one_line, ids[:SHOWN])) + (", ..." if len(ids) > SHOWN else "")
    what = f"{number_of(len(ids), 'memory', 'memories')} of scope {one_line(scope)}"
    try:
        sure = typer.confirm(f"Delete {what} ({shown})?", err=True)
    except typer.Abort:
        raise typer.Exit(INTERRUPTED) from None
    if not sure:
        err.print("nothing was deleted")
        raise typer.Exit(FAILED)
