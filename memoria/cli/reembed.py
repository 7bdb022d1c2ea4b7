"""Change the embedder of a database that is in use: ``reembed``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from memoria._support.progress import progress_bars
from memoria._support.wording import number_of
from memoria.cli.common import Json, one_line, print_facts
from memoria.cli.connection import Connection
from memoria.cli.embedders import FORMS, embedder_named, load_model
from memoria.embed import Embedder
from memoria.graph.server_facts import probe
from memoria.ingest.reembed import ReembedReport, finish_reembedding, roll_back_reembedding
from memoria.ingest.reembed import reembed as make_vectors_anew
from memoria.store import ServerFacts, Store

_STATES = {
    "filling": "vectors of {other} are being made; recalls use {live}",
    "sweeping": "recalls use {live}; vectors that {other} left are being completed",
    "kept": "recalls use {live}; the vectors of {other} are kept",
    "dropping": "recalls use {live}; the vectors of {other} are being deleted",
}


def reembed(
    embedder: Annotated[
        str | None, typer.Option(help=f"The new embedder: {FORMS}. If not given, show the state.")
    ] = None,
    batch: Annotated[
        int, typer.Option(min=1, max=10_000, help="Memories embedded and written at once.")
    ] = 256,
    finish: Annotated[
        bool, typer.Option("--finish", help="Delete the old vectors; this can't be undone.")
    ] = False,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Go back to the old vectors; delete the new ones.")
    ] = False,
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Replace all vectors with those of another embedder, while the database is in use.

    Recalls use the old vectors until all new ones are made, and then switch. The old ones are
    kept until --finish. Safe to run again after an interruption. After the switch, restart running
    programs with the new embedder.

    Examples
    --------
    memoria reembed --embedder all-minilm-l6-v2-q
    memoria reembed --finish
    memoria reembed --rollback
    """
    if (embedder is not None) + finish + rollback > 1:
        raise typer.BadParameter("give one of --embedder, --finish and --rollback")
    if not (embedder or finish or rollback):
        _show(connection.run(probe), as_json)
        return
    model = None if embedder is None else embedder_named(embedder)
    if embedder is not None and model is None:
        raise typer.BadParameter("name the new embedder", param_hint="--embedder")

    async def work(store: Store) -> ReembedReport:
        await load_model(model)
        with progress_bars() as progress:
            if model is not None:
                return await make_vectors_anew(
                    store, embedder=model, batch_size=batch, progress=progress
                )
            end = finish_reembedding if finish else roll_back_reembedding
            return await end(store, progress=progress)

    done = connection.run(work)
    print_facts(asdict(done), as_json, _said(done, model))


def _said(done: ReembedReport, model: Embedder | None) -> str:
    """Say in words what was done, and what is to be done next."""
    made = f"{number_of(done.embedded, 'memory', 'memories')} embedded; " if model else ""
    line = f"{made}recalls use {done.embedder or 'the old vectors'}"
    if done.state == "switched":
        line += (
            f"; the vectors of {done.replaced or 'the old embedder'} are kept: delete them with "
            "memoria reembed --finish, or go back with --rollback"
        )
    if done.left:
        have = number_of(done.left, "memory has", "memories have")
        line += f"; {have} no vector any more"
        line += "" if model else ": memoria embed makes the missing ones"
    return one_line(line)


def _show(facts: ServerFacts, as_json: bool) -> None:
    """Print which embedder is live, and how far a change has come."""
    other = facts.reembedding
    live = facts.embedder or "an unknown embedder"
    line = f"recalls use {live}"
    if other is not None:
        named = other.embedder or "an unknown embedder"
        line = _STATES[other.state].format(live=live, other=named)
    known = {
        "state": None if other is None else other.state,
        "embedder": facts.embedder,
        "dimensions": facts.dimensions,
        "other": None if other is None else other.embedder,
    }
    print_facts(known, as_json, one_line(line))
