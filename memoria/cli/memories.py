"""What is in the database: ``init``, ``ingest``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from memoria.cli.common import (
    Database,
    EmbedderName,
    Json,
    PasswordFile,
    Scope,
    Uri,
    User,
    embedder_named,
    err,
    on_store,
    print_facts,
    run,
    target,
)
from memoria.embed import DEFAULT_ONNX_MODEL
from memoria.ingest import GraphWriter, IngestReport, ingest_files
from memoria.progress import progress_bars
from memoria.schema import SchemaReport, apply_schema
from memoria.store import Store


def init(
    uri: Uri = None,
    user: User = None,
    password_file: PasswordFile = None,
    database: Database = None,
    embedder: EmbedderName = DEFAULT_ONNX_MODEL,
    as_json: Json = False,
) -> None:
    """Create constraints and indexes, and wait until they are online. Safe to run again."""
    model = embedder_named(embedder)

    async def apply(store: Store) -> SchemaReport:
        return await apply_schema(
            store,
            dimensions=model.dimensions if model else 384,
            embedder=model.name if model else None,
        )

    report: SchemaReport = run(on_store(target(uri, user, password_file, database), apply))
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
    uri: Uri = None,
    user: User = None,
    password_file: PasswordFile = None,
    database: Database = None,
    embedder: EmbedderName = DEFAULT_ONNX_MODEL,
    skip_invalid: Annotated[bool, typer.Option(help="Count wrong lines, write the rest.")] = False,
    as_json: Json = False,
) -> None:
    """Write memories and edges from files. Safe to run again after an interruption."""
    model = embedder_named(embedder)

    async def write(store: Store) -> IngestReport:
        writer = GraphWriter(store, scope=scope, embedder=model)
        with progress_bars() as progress:
            return await ingest_files(writer, files, skip_invalid=skip_invalid, progress=progress)

    report: IngestReport = run(on_store(target(uri, user, password_file, database), write))
    for problem in report.problems:
        err.print(problem, style="yellow", markup=False)
    done = report.written
    line = (
        f"{done.memories} memories ({done.memories_created} new, {done.embedded} embedded), "
        f"{done.relations} edges ({done.relations_created} new), {done.skipped} lines skipped"
    )
    facts = {"lines": report.lines, **asdict(done), "problems": report.problems}
    print_facts(facts, as_json, line)
