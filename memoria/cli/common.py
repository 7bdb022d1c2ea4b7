"""What every command needs: options, consoles, the way to the database, exit codes.

In: arguments and the environment. Out: text for a person on a terminal, or JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console

from memoria.config import StoreConfig
from memoria.connect import find_target, given_auth
from memoria.embed import ONNX_MODELS, Embedder, OnnxEmbedder
from memoria.store import Store, Target, open_driver

T = TypeVar("T")

# Exit codes beside 0; 2, wrong usage, is Typer's own.
FAILED = 1
NOT_RUNNING = 3
INTERRUPTED = 130  # as shells have it: 128 + SIGINT

out = Console(highlight=False, soft_wrap=True)
err = Console(highlight=False, soft_wrap=True, stderr=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Scope = Annotated[str, typer.Option(help="Scope (tenant) of the memories.")]
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


def target(
    uri: str | None, user: str | None, password_file: Path | None, database: str | None
) -> Coroutine[Any, Any, Target]:
    """Say which database the options and the environment mean."""
    return find_target(uri, given_auth(user, password_file=password_file), database)


async def on_store(where: Awaitable[Target], work: Callable[[Store], Awaitable[T]]) -> T:
    """Open the database, do ``work``, close it."""
    config = StoreConfig()
    chosen = await where
    async with open_driver(chosen, config) as driver:
        return await work(Store(driver, database=chosen.database, config=config))


def embedder_named(name: str) -> Embedder | None:
    """Return the embedder of ``--embedder``."""
    return None if name == "none" else OnnxEmbedder(name)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's coroutine; Ctrl-C ends it with a word and exit code 130."""
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:  # here: Typer would end without a word
        err.print("memoria: interrupted; run it again to go on", style="red", markup=False)
        raise typer.Exit(INTERRUPTED) from None


def print_facts(facts: dict[str, Any], as_json: bool, line: str) -> None:
    """Print ``facts`` as one line of JSON, or ``line`` for a person."""
    if as_json:
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        out.print(line, markup=False)
