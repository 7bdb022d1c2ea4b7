"""Link memories: ``link``, and ``--link`` of ``ingest``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Literal

import typer

from memoria._support.progress import progress_bars
from memoria._support.wording import number_of
from memoria.cli.common import (
    Json,
    Scope,
    one_line,
    print_doubt,
    print_facts,
    run,
)
from memoria.cli.connection import Connection, on_store
from memoria.cli.nothing import say_nothing_found
from memoria.learn.link import (
    PRUNE_BELOW,
    CompositeLinkConfig,
    LinkConfig,
    Linker,
    SimilarityLinkConfig,
)
from memoria.store import Store
from memoria.types import Count, LinkReport

CONFIGS: Mapping[str, LinkConfig] = {
    "composite": CompositeLinkConfig(),
    "similarity": SimilarityLinkConfig(),
}


def linker_named(name: str, store: Store, scope: str) -> Linker | None:
    """Return the linker that ``--link`` names; None for ``none``."""
    return Linker(store, scope=scope, config=CONFIGS[name]) if name in CONFIGS else None


def link(
    scope: Scope = "default",
    linker: Annotated[
        Literal["composite", "similarity"],
        typer.Option(help="composite: by cosine, tags, category and time; similarity: by cosine."),
    ] = "composite",
    new: Annotated[
        bool, typer.Option("--new", help="Link only memories that were not linked before.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help=f"Then delete links with a weight below {PRUNE_BELOW}.")
    ] = False,
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Link the memories of a scope with similar memories; each pair gets one edge.

    On a second run, the composite linker changes nothing; the similarity linker strengthens the
    edges that it finds again.

    Examples
    --------
    memoria link --scope alice
    memoria link --scope alice --linker similarity --new
    memoria link --scope alice --prune --json
    """

    async def work(store: Store) -> tuple[LinkReport, Count]:
        worker = Linker(store, scope=scope, config=CONFIGS[linker])
        with progress_bars() as progress:
            report = await worker.link(only_new=new, progress=progress)
        if not (report.memories or report.already_linked or report.without_embedding):
            await say_nothing_found(store, scope)
        return report, await worker.prune() if prune else Count()

    report, pruned = run(on_store(connection, work))
    parts = [
        f"{number_of(report.memories, 'memory', 'memories')} linked: "
        f"{number_of(report.edges, 'edge', 'edges')} ({report.edges_created} new)"
    ]
    if report.already_linked:
        parts.append(f"{report.already_linked} linked before")
    if report.without_embedding:
        parts.append(f"{report.without_embedding} left out without a vector")
    if prune:
        parts.append(f"{number_of(pruned, 'edge', 'edges')} pruned")
    certain = report.certain and pruned.certain
    print_doubt(certain)
    facts = {**asdict(report), "pruned": pruned, "certain": certain}
    del facts["missing"]  # always empty: the command takes no ids
    print_facts(facts, as_json, f"{', '.join(parts)}; scope {one_line(scope)}")
