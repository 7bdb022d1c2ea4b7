"""Link memories: ``link``, and ``--link`` of ``ingest``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

import typer

from memoria._support.progress import progress_bars
from memoria._support.wording import number_of
from memoria.cli.common import Json, Scope, one_line, print_doubt, print_facts
from memoria.cli.connection import Connection
from memoria.cli.embedders import EmbedderName, embedder_named
from memoria.cli.nothing import say_nothing_found
from memoria.errors import ConfigError
from memoria.learn.link import (
    PRUNE_BELOW,
    CompositeLinkConfig,
    LinkConfig,
    Linker,
    SimilarityLinkConfig,
)
from memoria.store import Store
from memoria.types import Count, LinkReport

MinScore = Annotated[
    float | None,
    typer.Option(help="Lowest score that gives an edge, of composite only; above 0 to 1."),
]
MinCosine = Annotated[
    float | None,
    typer.Option(
        help="Lowest cosine that gives an edge, counted from that of unrelated texts; 0 to 1."
    ),
]


def link_config(name: str, min_score: float | None, min_cosine: float | None) -> LinkConfig | None:
    """Return the settings of the linker that has a name; None for ``none``."""
    if name == "composite":
        score = CompositeLinkConfig().min_score if min_score is None else min_score
        return CompositeLinkConfig(min_score=score, min_cosine=min_cosine)
    if min_score is not None:
        raise ConfigError("--min-score is a setting of composite: give --min-cosine")
    if name == "similarity":
        return SimilarityLinkConfig(min_cosine=min_cosine)
    if min_cosine is not None:
        raise ConfigError("--min-cosine needs --link composite or --link similarity")
    return None


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
        bool, typer.Option("--prune", help=f"Also delete links with a weight below {PRUNE_BELOW}.")
    ] = False,
    min_score: MinScore = None,
    min_cosine: MinCosine = None,
    *,
    connection: Connection,
    embedder: EmbedderName = None,
    as_json: Json = False,
) -> None:
    """Link the memories of a scope with similar memories; each pair gets one edge.

    On a second run, the composite linker changes nothing; the similarity linker strengthens the
    edges that it finds again. An embedder of your own must be named once, to measure how near
    unrelated texts are to it.

    Examples
    --------
    memoria link --scope alice
    memoria link --scope alice --linker similarity --new
    memoria link --scope alice --min-score 0.5
    memoria link --scope alice --prune --json
    """
    config = link_config(linker, min_score, min_cosine)
    model = None if embedder is None else embedder_named(embedder)

    async def work(store: Store) -> tuple[LinkReport, Count]:
        worker = Linker(store, scope=scope, config=config, embedder=model)
        with progress_bars() as progress:
            report = await worker.link(only_new=new, progress=progress)
        if not (report.memories or report.already_linked or report.without_embedding):
            await say_nothing_found(store, scope)
        return report, await worker.prune() if prune else Count()

    report, pruned = connection.run(work)
    parts = [
        f"{number_of(report.memories, 'memory', 'memories')} linked: "
        f"{number_of(report.edges, 'edge')} ({report.edges_created} new)"
    ]
    if report.already_linked:
        parts.append(f"{report.already_linked} linked before")
    if report.without_embedding:
        parts.append(f"{report.without_embedding} left out without a vector")
    if prune:
        parts.append(f"{number_of(pruned, 'edge')} pruned")
    certain = report.certain and pruned.certain
    print_doubt(certain)
    facts = {**asdict(report), "pruned": pruned, "certain": certain}
    del facts["missing"]  # always empty: the command takes no ids
    print_facts(facts, as_json, f"{', '.join(parts)}; scope {one_line(scope)}")
