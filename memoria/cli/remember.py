"""Remember a sentence: ``remember``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from memoria._support.nearest import did_you_mean
from memoria._support.wording import number_of
from memoria.cli.common import Json, Scope, one_line, print_doubt, print_facts, warn
from memoria.cli.connection import Connection
from memoria.cli.embedders import EmbedderName, embedder_choice, load_model
from memoria.cli.holding import time_of
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.store import Store
from memoria.types import Remembered
from memoria.writer import GraphWriter

Ids = list[str] | None


def remember(
    text: Annotated[str, typer.Argument(help="The text to remember; - is stdin.")],
    scope: Scope = "default",
    *,
    connection: Connection,
    embedder: EmbedderName = None,
    kind: Annotated[
        str, typer.Option(help=f"Kind of the memory: {', '.join(DEFAULT_KINDS)}.")
    ] = "Event",
    tag: Annotated[Ids, typer.Option(help="Tag of the memory; may be repeated.")] = None,
    about: Annotated[
        Ids, typer.Option(help="Id of a memory that it is about; may be repeated.")
    ] = None,
    because_of: Annotated[
        Ids, typer.Option(help="Id of a memory that it follows from; may be repeated.")
    ] = None,
    supersedes: Annotated[
        Ids, typer.Option(help="Id of a memory that it replaces; may be repeated.")
    ] = None,
    created_at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When it was said (ISO 8601); default: now."),
    ] = None,
    valid_until: Annotated[
        str | None, typer.Option(metavar="TIME", help="End of its validity, such as 2026-05-01.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Remember a sentence, unless it is already stored, and print its id.

    Examples
    --------
    memoria remember "The van is at Storgatan 5." --scope ada
    memoria remember "The van was towed." --because-of evt-12 --tag van
    memoria remember "Ada likes coffee." --kind UserPreference --supersedes pref-3
    memoria remember "Ada moved to Oslo." --created-at 2026-05-01
    """
    if kind not in DEFAULT_KINDS and (near := did_you_mean(kind, DEFAULT_KINDS)):
        warn(f"kind {kind!r} is not one of memoria's own{near}")
    choose = embedder_choice(embedder)
    made = None if created_at is None else time_of(created_at, "--created-at")
    until = None if valid_until is None else time_of(valid_until, "--valid-until")
    said = sys.stdin.buffer.read().decode() if text == "-" else text

    async def work(store: Store) -> Remembered:
        model = await choose(store)
        writer = GraphWriter(store, scope=scope, embedder=model, kinds=(*DEFAULT_KINDS, kind))
        await writer.ready()  # fail before a model is downloaded
        await load_model(model)
        return await writer.remember(
            said,
            kind=kind,
            tags=tag or (),
            about=about or (),
            because_of=because_of or (),
            supersedes=supersedes or (),
            created_at=made,
            valid_until=until,
        )

    done: Remembered = connection.run(work)
    if done.superseded_by is not None:
        warn(f"it is no longer valid: {one_line(done.superseded_by)} supersedes it")
    print_doubt(done.certain)
    print_facts(done.facts(), as_json, _said(done, scope))


def _said(done: Remembered, scope: str) -> str:
    """Return what was done, in words."""
    id_ = one_line(done.id)
    new = done.created or not done.certain
    parts = [f"remembered {id_}" if new else f"not stored: {id_} already says this"]
    if done.edges:
        parts.append(f"{number_of(done.edges, 'edge')} made")
    if done.pending_vectors:
        parts.append("its vector is made later, because the embedder failed")
    if done.superseded:
        parts.append(f"superseded {', '.join(map(one_line, done.superseded))}")
    if done.may_replace:
        ids = ", ".join(map(one_line, done.may_replace))
        parts.append(f"may replace {ids} (if so, repeat with --supersedes)")
    return f"{'; '.join(parts)}; scope {one_line(scope)}"
