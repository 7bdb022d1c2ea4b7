"""The command line. Entry point: `main`."""

from __future__ import annotations

import sys

import typer

from memoria.cli import memories, server
from memoria.cli.common import FAILED, err
from memoria.errors import MemoriaError

app = typer.Typer(
    name="memoria",
    help="Graph retrieval for the memory of AI agents, on Neo4j.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
PANELS = {
    "Local server": (server.up, server.down, server.status, server.logs),
    "Memories": (memories.init, memories.ingest),
}
for panel, commands in PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)


def main() -> None:
    """Run the command line; an error of ours is one line and exit code 1, no traceback."""
    try:
        app()
    except MemoriaError as exc:
        err.print(f"memoria: {exc}", style="red", markup=False)
        sys.exit(FAILED)
