"""The command line: the local server, the schema, and loading files.

In: arguments and the environment. Out: text for a person, or JSON.
Exit code 1 on an error, 130 on Ctrl-C.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console

from memoria.config import StoreConfig
from memoria.connect import find_target, given_auth
from memoria.embed import DEFAULT_ONNX_MODEL, ONNX_MODELS, Embedder, OnnxEmbedder
from memoria.errors import MemoriaError
from memoria.ingest import GraphWriter, IngestReport, ingest_files
from memoria.progress import progress_bars
from memoria.schema import SchemaReport, apply_schema
from memoria.store import Store, Target, open_driver

T = TypeVar("T")
INTERRUPTED = 130  # as shells have it: 128 + SIGINT

app = typer.Typer(
    name="memoria",
    help="Graph retrieval for the memory of AI agents, on Neo4j.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
out = Console(highlight=False, soft_wrap=True)
err = Console(highlight=False, soft_wrap=True, stderr=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Uri = Annotated[
    str | None,
    typer.Option("--uri", help="Database to use; else NEO4J_URI, else the local server."),
]
User = Annotated[str | None, typer.Option("--user", help="User; else NEO4J_USERNAME.")]
PasswordFile = Annotated[
    Path | None, typer.Option(help="File with the password; else NEO4J_PASSWORD.")
]
Database = Annotated[str | None, typer.Option(help="Name of the database.")]
EmbedderName = Annotated[
    str, typer.Option("--embedder", help=f"{', '.join(ONNX_MODELS)}, or none.")
]


@app.command()
def up(as_json: Json = False) -> None:
    """Start the local Neo4j; download it first if need be."""
    from memoria.local import LocalNeo4j

    async def start() -> dict[str, str | int]:
        with progress_bars() as progress:
            return (await LocalNeo4j().start(progress=progress)).to_dict()

    info = _run(start())
    _print(info, as_json, f"Neo4j {info['version']} at {info['uri']} (process {info['pid']})")


@app.command()
def down(as_json: Json = False) -> None:
    """Stop the local Neo4j; its data stay."""
    from memoria.local import LocalNeo4j

    stopped = _run(LocalNeo4j().stop())
    _print({"stopped": stopped}, as_json, "stopped" if stopped else "it was not running")


@app.command()
def status(as_json: Json = False) -> None:
    """Say whether the local Neo4j runs; exit code 3 when it does not."""
    from memoria.local import LocalNeo4j

    info = _run(LocalNeo4j().status())
    if info is None:
        _print({"running": False}, as_json, "not running; start it with: memoria up")
        raise typer.Exit(3)
    facts = {"running": True, **info.to_dict()}
    _print(facts, as_json, f"Neo4j {info.version} at {info.uri} (process {info.pid})")


@app.command()
def logs(lines: Annotated[int, typer.Option("-n", min=1, help="Lines to show.")] = 50) -> None:
    """Show the last lines that the local Neo4j printed."""
    from memoria.local import LocalNeo4j

    out.print(LocalNeo4j().log_tail(lines), markup=False)


@app.command()
def init(
    uri: Uri = None,
    user: User = None,
    password_file: PasswordFile = None,
    database: Database = None,
    embedder: EmbedderName = DEFAULT_ONNX_MODEL,
    as_json: Json = False,
) -> None:
    """Create constraints and indexes, and wait until they are online. Safe to run again."""
    model = _embedder(embedder)

    async def apply(store: Store) -> SchemaReport:
        return await apply_schema(
            store,
            dimensions=model.dimensions if model else 384,
            embedder=model.name if model else None,
        )

    report: SchemaReport = _run(_on_store(_target(uri, user, password_file, database), apply))
    facts = {
        "version": report.facts.version,
        "edition": report.facts.edition,
        "indexes": dict(report.facts.indexes),
        "created": report.created,
        "existing": report.existing,
    }
    made = f"created {', '.join(report.created)}" if report.created else "nothing to create"
    _print(facts, as_json, f"{made}; all indexes are online (Neo4j {report.facts.version})")


@app.command()
def ingest(
    files: Annotated[list[str], typer.Argument(help="JSON Lines, also .gz; - is stdin.")],
    scope: Annotated[str, typer.Option(help="Scope (tenant) to write to.")] = "default",
    uri: Uri = None,
    user: User = None,
    password_file: PasswordFile = None,
    database: Database = None,
    embedder: EmbedderName = DEFAULT_ONNX_MODEL,
    skip_invalid: Annotated[bool, typer.Option(help="Count wrong lines, write the rest.")] = False,
    as_json: Json = False,
) -> None:
    """Write memories and edges from files. Safe to run again after an interruption."""
    model = _embedder(embedder)

    async def write(store: Store) -> IngestReport:
        writer = GraphWriter(store, scope=scope, embedder=model)
        with progress_bars() as progress:
            return await ingest_files(writer, files, skip_invalid=skip_invalid, progress=progress)

    report: IngestReport = _run(_on_store(_target(uri, user, password_file, database), write))
    for problem in report.problems:
        err.print(problem, style="yellow", markup=False)
    done = report.written
    line = (
        f"{done.memories} memories ({done.memories_created} new, {done.embedded} embedded), "
        f"{done.relations} edges ({done.relations_created} new), {done.skipped} lines skipped"
    )
    facts = {"lines": report.lines, **asdict(done), "problems": report.problems}
    _print(facts, as_json, line)


def main() -> None:
    """Run the command line; an error of ours is one line and exit code 1, no traceback."""
    try:
        app()
    except MemoriaError as exc:
        err.print(f"memoria: {exc}", style="red", markup=False)
        sys.exit(1)


def _target(
    uri: str | None, user: str | None, password_file: Path | None, database: str | None
) -> Coroutine[Any, Any, Target]:
    return find_target(uri, given_auth(user, password_file=password_file), database)


async def _on_store(target: Awaitable[Target], work: Callable[[Store], Awaitable[T]]) -> T:
    config = StoreConfig()
    chosen = await target
    async with open_driver(chosen, config) as driver:
        return await work(Store(driver, database=chosen.database, config=config))


def _embedder(name: str) -> Embedder | None:
    return None if name == "none" else OnnxEmbedder(name)


def _run(work: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:  # here: Typer would end without a word
        err.print("memoria: interrupted; run it again to go on", style="red", markup=False)
        raise typer.Exit(INTERRUPTED) from None


def _print(facts: dict[str, Any], as_json: bool, line: str) -> None:
    if as_json:
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        out.print(line, markup=False)
