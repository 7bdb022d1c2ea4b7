"""Make vectors for memories without a vector: ``embed``."""

from __future__ import annotations

from typing import Annotated

import typer

from memoria._support.progress import progress_bars
from memoria._support.wording import number_of
from memoria.cli.common import (
    Json,
    Scope,
    one_line,
    print_facts,
    run,
)
from memoria.cli.connection import Connection, on_store
from memoria.cli.embedders import EmbedderName, embedder_choice, load_model
from memoria.graph.server_facts import require_ready
from memoria.graph.vocabulary import UNIQUE_INDEX
from memoria.store import Store
from memoria.writer import GraphWriter


def embed(
    scope: Scope = "default",
    embedder: EmbedderName = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Embed this kind only; may be repeated. Default: all kinds."),
    ] = None,
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Make vectors for memories without a vector. Safe to run again after an interruption.

    Includes memories that another program wrote, of any kind. A memory without text gets no
    vector. To store your own vectors, ingest them.

    Examples
    --------
    memoria embed --scope ada
    memoria embed --scope films --kind Movie --kind Person
    """
    if embedder == "none":
        raise typer.BadParameter("name the embedder to use", param_hint="--embedder")
    choose = embedder_choice(embedder)

    async def work(store: Store) -> tuple[int, int]:
        model = await choose(store)
        writer = GraphWriter(store, scope=scope, embedder=model)
        await writer.ready()  # it, and `require_ready`, fail before a model is downloaded
        found = await writer.count_unembedded(kind or ())
        if not found:
            return 0, 0
        await require_ready(store, UNIQUE_INDEX, vectors=True)
        await load_model(model)
        with progress_bars() as progress:
            return found, await writer.backfill_embeddings(kinds=kind or (), progress=progress)

    found, embedded = run(on_store(connection, work))
    left = max(0, found - embedded)
    line = f"{number_of(embedded, 'memory', 'memories')} embedded"
    if left:
        line += f", {left} got no vector: no text, or one that the embedder refuses"
    facts = {"embedded": embedded, "left": left}
    print_facts(facts, as_json, f"{line}; scope {one_line(scope)}")
