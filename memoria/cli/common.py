"""What every command needs: options, consoles, the way to the database, exit codes.

In: arguments and the environment. Out: text for a person on a terminal, or JSON.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer
from rich.console import Console

from memoria._support.progress import progress_bars
from memoria.connection import find_target, given_auth
from memoria.embed import ONNX_MODELS, Embedder, OnnxEmbedder
from memoria.errors import DimensionError, InvalidInputError, MemoriaError
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig

T = TypeVar("T")

# Exit codes beside 0; 2, wrong usage, is Typer's own.
FAILED = 1
NOT_RUNNING = 3
WARNED = 4
FAULTY = 5
INTERRUPTED = 130  # as shells have it: 128 + SIGINT

out = Console(highlight=False, emoji=False, soft_wrap=True)
err = Console(highlight=False, emoji=False, soft_wrap=True, stderr=True)

# Of what a memory holds, a terminal gets no control characters: they could rewrite the screen.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_CONTROLS_IN_TEXT = {code: shown for code, shown in _CONTROLS.items() if chr(code) not in "\n\t"}

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Scope = Annotated[str, typer.Option(envvar="MEMORIA_SCOPE", help="Scope (tenant) of the memories.")]
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
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Tag of the query; may be repeated.")]
Budget = Annotated[int, typer.Option("--budget", min=1, help="Size of the context; tokens.")]
Format = Annotated[
    Literal["text", "markdown", "json"], typer.Option("--format", help="Form of the context.")
]
Order = Annotated[
    Literal["relevance", "time"], typer.Option("--order", help="Order inside the context.")
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


async def load_model(embedder: Embedder | None) -> None:
    """Load the model now, with bars for a first download: a call's deadline is too short for it."""
    if isinstance(embedder, OnnxEmbedder):
        with progress_bars() as progress:
            await embedder.load(progress)


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
        print_text(line)


def print_text(text: str) -> None:
    """Print a text of several lines: as it is, but without control characters on a terminal."""
    if out.is_terminal:
        out.print(printable(text), markup=False)
    else:
        sys.stdout.write(text + "\n")


def printable(text: str) -> str:
    """Return ``text`` with its control characters written out, but for tabs and line breaks."""
    return text.translate(_CONTROLS_IN_TEXT)


def one_line(text: str) -> str:
    """Return ``text`` with all its control characters written out."""
    return text.translate(_CONTROLS)


def say_missing(ids: Iterable[str], scope: str) -> None:
    """Name ids that no memory of the scope has."""
    for id_ in ids:
        text = f"no memory {one_line(id_)} in scope {one_line(scope)}"
        err.print(text, style="yellow", markup=False)


def advice(error: MemoriaError) -> str:
    """Return the option that helps against an error, as a clause after its message."""
    if not isinstance(error, InvalidInputError) or re.search(r", line \d+: ", str(error)):
        return ""  # the latter is about a dataset, which has no options for its lines
    if isinstance(error, DimensionError) and error.field in ("embedder", "dimensions"):
        return "; --embedder chooses another, and none does without"
    found = []
    if error.field == "kind":
        found.append("--kind declares one more kind")
    if re.search(r":\d+: ", str(error)):  # a line of a file
        found.append("--skip-invalid leaves such lines out")
    return "".join(f"; {text}" for text in found)
