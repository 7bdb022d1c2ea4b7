"""The command line. Entry point: `main`, which `memoria.__main__` calls.

Exit codes: 0 done; 1 an error, with one line on stderr (no line if the reader of stdout has closed
it); 2 wrong usage; 3 `status`: the server does not run; 4 and 5 `doctor`: warnings, errors; 130
interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer

from memoria.cli.common import FAILED, INTERRUPTED, advice, err
from memoria.cli.later import LaterCommand, add_later
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
# Panel of the help -> its commands, each by its module and function.
PANELS = {
    "Local server": "local_server.up local_server.down local_server.status local_server.logs",
    "Memories": (
        "ingest.init ingest.ingest remember.remember chats.import_chats notes.import_notes "
        "embed.embed reembed.reembed link.link offline.import_ lookup.get lookup.list_ "
        "lookup.recent lookup.neighbours forgetting.forget forgetting.delete_edge "
        "forgetting.forget_scope scopes.stats scopes.relations scopes.export doctor.doctor "
        "mapping.adopt queries.queries"
    ),
    "Retrieval": (
        "recall.recall recall.explore view.view pack.pack replay.replay evaluate.evaluate tune.tune"
    ),
    "Agents": "mcp.mcp mcp.serve mcp.mcp_token hook.hook",
}
LEARNING = (
    "learn.reinforce learn.feedback learn.co_activate learn.suppress learn.override "
    "learn.log learn.consolidate learn.undo"
)

for panel, places in PANELS.items():
    for place in places.split():
        add_later(app, place, panel)
learning = typer.Typer(help="Learn from use: strengthen, suppress, undo.", no_args_is_help=True)
for place in LEARNING.split():
    add_later(learning, place)
app.add_typer(learning, name="learn", rich_help_panel="Learning")


def all_commands() -> dict[str, Any]:
    """Return every command by its words, such as ``recall`` and ``learn undo``."""
    found: dict[str, Any] = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        below = getattr(command, "commands", None)
        found |= {name: command} if below is None else {f"{name} {n}": c for n, c in below.items()}
    return {
        name: command.loaded() if isinstance(command, LaterCommand) else command
        for name, command in found.items()
    }


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
    except SystemExit as exc:
        if exc.code == INTERRUPTED:  # Typer ends without a message
            err.print("memoria: interrupted", style="red", markup=False)
        raise
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
    err.print(f"memoria: {message}", style="red", markup=False)
    sys.exit(FAILED)


def _drop_output() -> None:
    """Drop the rest of the buffer; otherwise Python fails to write it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
