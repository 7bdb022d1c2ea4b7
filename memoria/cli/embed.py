"""Make vectors for memories without a vector: ``embed``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from memoria._support.progress import progress_bars
from memoria._support.wording import number_of
from memoria.cli.common import Json, Scope, err, hint, one_line, print_facts
from memoria.cli.embedders import EmbedderName, embedder_choice, embedder_named, load_model
from memoria.cli.mapping import MappedConnection, mapping_of
from memoria.embed import DEFAULT_ONNX_MODEL
from memoria.graph.mapping.embedding import Vectorised, embed_mapped
from memoria.graph.mapping.model import toml_of
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
    connection: MappedConnection,
    as_json: Json = False,
) -> None:
    """Make vectors for memories without a vector. Safe to run again after an interruption.

    Includes memories that another program wrote, of any kind. A memory without text gets no
    vector. To store your own vectors, ingest them.

    With --mapping, gives vectors to the nodes of another program's graph, in all of its scopes: in
    the property memoria_embedding, with indexes of their own. Prints each statement, and the
    mapping that reads the vectors. A node whose text has changed gets a new vector.

    Examples
    --------
    memoria embed --scope ada
    memoria embed --scope films --kind Movie --kind Person
    memoria embed --mapping graph.toml > with-vectors.toml
    """
    if connection.mapping is not None:
        _embed_mapped(connection, embedder, kind or (), as_json)
        return
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

    found, embedded = connection.run(work)
    left = max(0, found - embedded)
    line = f"{number_of(embedded, 'memory', 'memories')} embedded"
    if left:
        line += f", {left} got no vector: no text, or one that the embedder refuses"
    facts = {"embedded": embedded, "left": left}
    print_facts(facts, as_json, f"{line}; scope {one_line(scope)}")


def _embed_mapped(
    connection: MappedConnection, embedder: str | None, kinds: Sequence[str], as_json: bool
) -> None:
    """Give a mapped graph vectors of memoria's own."""
    if kinds:
        raise typer.BadParameter("leave labels out of the mapping instead", param_hint="--kind")
    mapping = mapping_of(connection.mapping or "")
    model = embedder_named(embedder or DEFAULT_ONNX_MODEL)
    if model is None:
        raise typer.BadParameter("name the embedder to use", param_hint="--embedder")

    async def work(store: Store) -> Vectorised:
        await load_model(model)
        with progress_bars() as progress:
            made = await embed_mapped(
                store, mapping, model, lambda text: err.print(text, markup=False), progress
            )
        from memoria.cli.warming import plan_mapped_recalls  # with all that recalls load

        await plan_mapped_recalls(store, made.mapping)  # its indexes have discarded all plans
        return made

    made = connection.plain.run(work)
    line = f"{number_of(made.embedded, 'node')} embedded by {model.name}"
    if made.left:
        line += f", {made.left} got no vector: {made.fault}"
    hint(line)
    text = toml_of(made.mapping)
    print_facts({"embedded": made.embedded, "left": made.left, "mapping": text}, as_json, text)
