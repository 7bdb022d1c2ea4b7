"""Load a large graph into a new database: ``import --offline``."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import typer

from memoria._support.progress import progress_bars
from memoria._support.wording import number_of
from memoria.cli.common import Json, MoreKinds, Scope, err, one_line, print_facts
from memoria.cli.connection import on_target
from memoria.cli.embedders import EmbedderName, embedder_named, load_model
from memoria.embed import DEFAULT_ONNX_MODEL, Embedder
from memoria.errors import DimensionError
from memoria.graph.schema import apply_schema
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.ingest import LIST_DELIMITER, OfflineReport, Tables, write_tables
from memoria.ingest.daemon import in_daemon_thread
from memoria.store import Store, Target
from memoria.writer import GraphWriter

SCHEMA_TIMEOUT_S = 3_600.0


def import_(
    files: Annotated[list[str], typer.Argument(help="JSON Lines, also .gz; - is stdin.")],
    offline: Annotated[
        bool, typer.Option("--offline", help="Required: confirms that the server is stopped.")
    ] = False,
    scope: Scope = "default",
    embedder: EmbedderName = None,
    kind: MoreKinds = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the local database and everything in it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Create the local database from files with Neo4j's offline import, for millions of memories.

    The local server must be stopped. A database that it already has is replaced only with
    --overwrite. A wrong line ends the import before anything is changed. Afterwards the server
    runs, and memories without a vector are embedded; if that is interrupted, `memoria ingest` of
    the same files continues it.

    Examples
    --------
    memoria down
    memoria import --offline memories.jsonl.gz edges.jsonl.gz --scope ada
    memoria import --offline graph.jsonl --embedder none --overwrite
    """
    if not offline:
        raise typer.BadParameter(
            "memoria import only works offline: add --offline, or use memoria ingest",
            param_hint="--offline",
        )
    model = embedder_named(embedder or DEFAULT_ONNX_MODEL)  # nothing is recorded there yet
    kinds = (*DEFAULT_KINDS, *(kind or ()))
    report, embedded = asyncio.run(_import(files, scope, kinds, model, overwrite=overwrite))
    line = (
        f"imported {number_of(report.memories, 'memory', 'memories')} ({embedded} embedded), "
        f"{number_of(report.relations, 'edge')}; scope {one_line(scope)}"
    )
    if report.left_out:
        lines = number_of(report.left_out, "line")
        err.print(f"{lines} about learning left out: only memoria ingest writes them")
    facts = {
        "memories": report.memories,
        "relations": report.relations,
        "embedded": embedded,
        "left_out": report.left_out,
    }
    print_facts(facts, as_json, line)


async def _import(
    files: list[str], scope: str, kinds: tuple[str, ...], model: Embedder | None, *, overwrite: bool
) -> tuple[OfflineReport, int]:
    from memoria.local import ImportFiles, LocalNeo4j
    from memoria.local.bulk import import_folder

    local = LocalNeo4j()
    await local.check_import(overwrite=overwrite)  # fail before the files are read
    await load_model(model)
    with import_folder(local.home) as folder, progress_bars() as progress:
        with Tables(folder, scope=scope, now=datetime.now(UTC)) as tables:
            read = partial(write_tables, files, tables, kinds=kinds, progress=progress)
            report = await in_daemon_thread(read)
        _check_dimensions(report, model)
        rows = ImportFiles(
            memories=tables.memories,
            relations=tables.relations,
            list_delimiter=LIST_DELIMITER,
            multiline=tables.multiline,
        )
        await local.import_files(rows, overwrite=overwrite, progress=progress)
        info = await local.start(progress=progress)

        async def finish(store: Store) -> int:
            """Create constraints and indexes, then missing vectors; return their number."""
            await apply_schema(
                store, embedder=model, dimensions=report.dimensions, timeout_s=SCHEMA_TIMEOUT_S
            )
            if model is None:
                return 0
            writer = GraphWriter(store, scope=scope, embedder=model, kinds=kinds)
            return await writer.backfill_embeddings()

        return report, await on_target(Target(uri=info.uri, auth=local.auth), finish)


def _check_dimensions(report: OfflineReport, model: Embedder | None) -> None:
    if model and report.dimensions not in (None, model.dimensions):
        raise DimensionError(
            f"the files' vectors have {report.dimensions} dimensions, those of {model.name} "
            f"{model.dimensions}",
            field="embedder",
        )
