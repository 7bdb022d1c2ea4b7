"""Set a database up, and write memories: ``init``, ``ingest``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

import typer

from memoria._support.checks import MAX_DIMENSIONS
from memoria._support.progress import progress_bars
from memoria._support.wording import number_of
from memoria.cli.common import Json, MoreKinds, Scope, one_line, print_doubt, print_facts, warn
from memoria.cli.connection import Connection
from memoria.cli.embedders import (
    EmbedderName,
    embedder_choice,
    embedder_named,
    load_model,
    recorded_embedder,
)
from memoria.cli.link import MinCosine, MinScore, link_config
from memoria.cli.tally import embedded, first_write
from memoria.graph.schema import SchemaReport, apply_schema
from memoria.graph.server_facts import AbsentEmbedder, NamedEmbedder, probe
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.ingest import IngestReport, ingest_files
from memoria.learn.link import Linker
from memoria.store import Store
from memoria.types import WriteReport
from memoria.writer import GraphWriter


def init(
    *,
    connection: Connection,
    embedder: EmbedderName = None,
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
    model = None if embedder is None else embedder_named(embedder)
    if embedder != "none" and dimensions is not None:
        raise typer.BadParameter(
            "an embedder sets the size: use --dimensions with --embedder none",
            param_hint="--dimensions",
        )

    async def apply(store: Store) -> SchemaReport:
        known = await _recorded(store) if embedder is None else model
        made = await apply_schema(store, embedder=known, dimensions=dimensions, kinds=kinds)
        if made.created:  # which discards all plans
            from memoria.cli.warming import plan_recalls  # with all that recalls

            await plan_recalls(store)
        return made

    report: SchemaReport = connection.run(apply)
    facts = {
        "version": report.facts.version,
        "edition": report.facts.edition,
        "indexes": dict(report.facts.indexes),
        "created": report.created,
        "existing": report.existing,
    }
    made = f"created {', '.join(report.created)}" if report.created else "nothing to create"
    print_facts(facts, as_json, f"{made}; all indexes are online (Neo4j {report.facts.version})")


async def _recorded(store: Store) -> NamedEmbedder:
    """Return the embedder that is recorded already, whether it is installed here or not."""
    facts = await probe(store)
    if facts.embedder is not None and facts.dimensions is not None:
        return AbsentEmbedder(name=facts.embedder, dimensions=facts.dimensions)
    return recorded_embedder(facts.embedder)


def ingest(
    files: Annotated[list[str], typer.Argument(help="JSON Lines, also .gz; - is stdin.")],
    scope: Scope = "default",
    *,
    connection: Connection,
    embedder: EmbedderName = None,
    kind: MoreKinds = None,
    link: Annotated[
        Literal["composite", "similarity", "none"],
        typer.Option(
            metavar="HOW",
            help="Link new memories with similar ones: composite, similarity or none.",
        ),
    ] = "none",
    min_score: MinScore = None,
    min_cosine: MinCosine = None,
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Leave out wrong lines, and count them.")
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
    choose = embedder_choice(embedder)
    config = link_config(link, min_score, min_cosine)

    async def write(store: Store) -> IngestReport:
        model = await choose(store)
        linker = None
        if config is not None:
            linker = Linker(store, scope=scope, config=config, embedder=model)
        writer = GraphWriter(
            store, scope=scope, embedder=model, kinds=(*DEFAULT_KINDS, *(kind or ())), linker=linker
        )
        await writer.ready()  # fail before a model is downloaded
        await load_model(model)
        with progress_bars() as progress:
            return await ingest_files(writer, files, skip_invalid=skip_invalid, progress=progress)

    report: IngestReport = connection.run(write)
    for problem in report.problems:
        warn(problem)
    done = report.written
    if done.duplicates:
        repeated = number_of(done.duplicates, "memory", "memories")
        warn(f"{repeated} with an id that comes again: the last memory of an id counts")
    print_doubt(report.certain)
    facts = {"lines": report.lines, **asdict(done), "problems": report.problems}
    facts["certain"] = report.certain
    print_facts(facts, as_json, _ingested(done, scope, linked=link != "none"))


def _ingested(done: WriteReport, scope: str, *, linked: bool) -> str:
    """Return the counts of an ingest in words."""
    parts = [
        f"{number_of(done.memories, 'memory', 'memories')} "
        f"({done.memories_created} new, {embedded(done)})",
        f"{number_of(done.relations, 'edge')} ({done.relations_created} new)",
        f"{number_of(done.skipped, 'line')} skipped",
    ]
    if linked:
        parts.insert(2, f"{number_of(done.links, 'link')} ({done.links_created} new)")
    if done.unlinked:
        parts.insert(3, f"{done.unlinked} not linked without a vector")
    return f"{first_write(done)}{', '.join(parts)}; scope {one_line(scope)}"
