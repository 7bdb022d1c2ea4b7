"""Show recalls as a page in the browser: ``view``."""

from __future__ import annotations

import asyncio
import webbrowser
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from memoria.cli.common import Scope, needing, out
from memoria.cli.connection import opening_of
from memoria.cli.embedders import EmbedderName, embedder_choice, load_model
from memoria.cli.mapping import MappedConnection
from memoria.cli.pack import STDIN, read_document


def view(
    traces: Annotated[
        list[str] | None,
        typer.Argument(help="Output of recall --json --full; - is stdin.", metavar="TRACE"),
    ] = None,
    scope: Scope = "default",
    *,
    connection: MappedConnection,
    embedder: EmbedderName = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for a free one.")
    ] = 0,
    write: Annotated[
        bool, typer.Option("--write", help="Let the page replace, forget and mark memories.")
    ] = False,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open nothing.")
    ] = False,
) -> None:
    """Show in the browser what a recall finds, and why. Needs the extra view.

    The page is served to this machine only, and only to someone who has the printed address.
    Saved recalls need no database. Ctrl-C ends it.

    Examples
    --------
    memoria view --scope alice
    memoria recall "Why is the oven cold?" --json --full > trace.json
    memoria view trace.json
    """
    with needing("view", "view"):
        from memoria.view.serving import serve
        from memoria.view.source import Source, saved
    files = [
        read_document(name, partial(saved, "standard input" if name == STDIN else Path(name).name))
        for name in traces or ()
    ]
    opening = opening_of(connection, scope, embedder_choice(embedder))

    def announce(address: str, for_browser: str) -> None:
        out.print(f"memoria view: {address}", markup=False)
        if not no_browser:
            # In a thread, as a browser of the terminal returns only when it is left.
            asyncio.get_running_loop().run_in_executor(None, webbrowser.open, for_browser)

    source = Source(
        opening, load=lambda retriever: load_model(retriever.embedder), files=files, writes=write
    )
    first = files[0].trace.scope if files else scope
    asyncio.run(serve(source, announce, scope=first, port=port))
