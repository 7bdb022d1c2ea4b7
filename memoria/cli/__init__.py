"""The command line. Entry point: `main`.

Exit codes: 0 done; 1 an error, with one line on stderr (no line if the reader of stdout has closed
it); 2 wrong usage; 3 `status`: the server does not run; 4 and 5 `doctor`: warnings, errors; 130
interrupted.
"""

from __future__ import annotations

import inspect
import io
import os
import re
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated, Any

import typer

from memoria.cli import (
    doctor,
    embed,
    evaluate,
    learn,
    link,
    memories,
    offline,
    pack,
    recall,
    replay,
    scopes,
    server,
    tune,
)
from memoria.cli.common import FAILED, advice, err, printable
from memoria.cli.connection import with_options
from memoria.errors import MemoriaError

EXIT_CODES = (
    "Exit codes: 0 done; 1 error; 2 wrong usage; 3 status: not running; 4 doctor: warnings; "
    "5 doctor: errors; 130 interrupted."
)

app = typer.Typer(
    name="memoria",
    help="Graph retrieval for the memory of AI agents, on Neo4j.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
PANELS: dict[str, tuple[Callable[..., Any], ...]] = {
    "Local server": (server.up, server.down, server.status, server.logs),
    "Memories": (
        memories.init,
        memories.ingest,
        embed.embed,
        link.link,
        offline.import_,
        memories.forget,
        scopes.stats,
        scopes.export,
        doctor.doctor,
    ),
    "Retrieval": (
        recall.recall,
        recall.explore,
        pack.pack,
        replay.replay,
        evaluate.evaluate,
        tune.tune,
    ),
}
LEARNING: tuple[Callable[..., Any], ...] = (
    learn.reinforce,
    learn.feedback,
    learn.co_activate,
    learn.suppress,
    learn.override,
    learn.consolidate,
    learn.undo,
)


def _help(command: Callable[..., Any]) -> tuple[str, str]:
    """Split a docstring into the help, with one line for each paragraph, and the examples."""
    text, _, examples = (inspect.getdoc(command) or "").partition("\n\nExamples\n--------\n")
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text), f"Examples:\n{examples}"


def _add(group: typer.Typer, command: Callable[..., Any], panel: str | None = None) -> None:
    text, examples = _help(command)
    name = command.__name__.rstrip("_").replace(
        "_", "-"
    )  # `import_` is a command, but `import` is a keyword of Python
    add = group.command(name, rich_help_panel=panel, help=text, epilog=examples)
    add(with_options(command))


for panel, commands in PANELS.items():
    for command in commands:
        _add(app, command, panel)
learning = typer.Typer(help="Learn from use: strengthen, forget, take back.", no_args_is_help=True)
for command in LEARNING:
    _add(learning, command)
app.add_typer(learning, name="learn", rich_help_panel="Learning")


def all_commands() -> dict[str, Any]:
    """Return every command by its words, such as ``recall`` and ``learn undo``."""
    found: dict[str, Any] = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        below = getattr(command, "commands", None)
        found |= {name: command} if below is None else {f"{name} {n}": c for n, c in below.items()}
    return found


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memoria {version('memoria-graph')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Define the options before a command."""


def main() -> None:
    """Run the command line; an error is one line and exit code 1, no traceback."""
    _open_closed_streams()
    if isinstance(
        sys.stdout, io.TextIOWrapper
    ):  # a text may hold characters that the terminal can't show
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            app(prog_name="memoria")
        finally:
            sys.stdout.flush()
    except MemoriaError as exc:
        _fail(f"{exc}{advice(exc)}")
    except BrokenPipeError:  # the reader closed the pipe, as ``head`` does
        _drop_output()
        sys.exit(FAILED)
    except OSError as exc:
        _drop_output()
        _fail(f"{exc.filename}: {exc.strerror}" if exc.filename else f"{exc.strerror or exc}")


def _open_closed_streams() -> None:
    """Replace a standard stream that is closed, as after ``>&-``, by the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115  # as theirs
            setattr(sys, name, stream)


def _fail(message: str) -> None:
    err.print(f"memoria: {printable(message)}", style="red", markup=False)
    sys.exit(FAILED)


def _drop_output() -> None:
    """Drop the rest of the buffer; otherwise Python fails to write it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
