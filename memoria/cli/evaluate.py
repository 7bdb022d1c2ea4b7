"""Measure how well questions find their evidence: ``evaluate``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from memoria._support.progress import ProgressCallback, progress_bars
from memoria.cli.choices import Weights
from memoria.cli.common import Json, Scope, print_json
from memoria.cli.connection import on_store
from memoria.cli.datasets import (
    EmbeddedDataset,
    Ks,
    Limit,
    OwnConnection,
    Raw,
    Reading,
    Split,
    UseVectors,
    on_dataset,
    read_subjects,
    retriever_config,
)
from memoria.cli.embedders import EmbedderName, embedder_named
from memoria.cli.figures import print_report
from memoria.cli.mapping import MappingFile, mapping_of
from memoria.cli.output import check_file, opened
from memoria.evaluation import (
    METHODS,
    EvaluationConfig,
    Run,
    ask_all,
    check_excluded,
    check_method,
    make_report,
    read_asked,
    run_lines,
)
from memoria.graph.mapping import GraphMapping
from memoria.graph.mapping.reading import MappedGraph, scope_of
from memoria.store import Store

Folder = Annotated[Path, typer.Argument(help="Folder with a graph or messages, and questions.")]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help=f"{', '.join(METHODS)}; may be repeated. Default: transfer."),
]
Excluded = Annotated[
    list[str] | None, typer.Option(help="Category to leave out of the headline; may be repeated.")
]
RunOut = Annotated[
    str | None,
    typer.Option(help="File for the rankings; with several methods, one for each, named by it."),
]


def evaluate(
    context: typer.Context,
    dataset_dir: Folder,
    split: Split = "dev",
    raw: Raw = False,
    method: Methods = None,
    k: Ks = None,
    exclude_category: Excluded = None,
    limit: Limit = None,
    run_out: RunOut = None,
    use_vectors: UseVectors = False,
    relevance: Weights = "default",
    embedder: EmbedderName = None,
    mapping: MappingFile = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="With --mapping: kind to rank; may be repeated. Default: its labels."),
    ] = None,
    scope: Scope = "default",
    *,
    connection: OwnConnection,
    as_json: Json = False,
) -> None:
    """Measure how well the questions of a dataset find their evidence.

    Writes the dataset into scopes of its own (chats through the conversation writer) and asks each
    method every question. Prints recall@k and full@k (all evidence among the first k) by category
    with intervals of 95 %, the differences from the baselines (dense, bm25, rrf, ppr), and the
    time of an answer.

    A database holds the vectors of one embedder, so a throw-away server is started for the run.
    With --uri or NEO4J_URI, your database is used; the scopes stay there for the next run.

    With --mapping, nothing is written: the questions are about the graph of another program. Only
    their file is read; gold are keys of its nodes, and conversation is a scope, else --scope.

    Examples
    --------
    memoria evaluate data/notes --use-vectors
    memoria evaluate data/notes --method transfer --method rrf --limit 100 --json
    memoria evaluate data/chats
    memoria evaluate data/talks --use-vectors --exclude-category unanswerable --run-out run.jsonl
    memoria evaluate data/asked --mapping graph.toml --kind Episodic --scope demo
    """
    defaults = EvaluationConfig()
    config = EvaluationConfig(
        methods=tuple(method or defaults.methods),
        ks=tuple(k or defaults.ks),
        excluded=tuple(exclude_category or ()),
        limit=limit,
        retriever=retriever_config(relevance),
    )
    outputs = _outputs(run_out, config.methods)
    if mapping is not None:
        if use_vectors or raw:
            raise typer.BadParameter("leave --use-vectors and --raw out", param_hint="--mapping")
        read = mapping_of(mapping)
        asked = read_asked(
            dataset_dir, split=split, kinds=_kinds(read, kind), scope=scope_of(read, scope) or scope
        )
        subject = EmbeddedDataset(
            dataset=asked,
            embedder=None if embedder is None else embedder_named(embedder),
            use_supplied=False,
        )
        runs = _run_all(subject, config, partial(_on_mapped, connection, read))
    else:
        how = Reading(split=split, raw=raw, use_vectors=use_vectors, embedder=embedder)
        [subject] = read_subjects(context, [dataset_dir], how, connection)
        runs = _run_all(subject, config, partial(on_dataset, subject, connection))
    _show(subject, runs, config, outputs, as_json)


_Work = Callable[[Store, ProgressCallback], Awaitable[tuple[Run, ...]]]


def _run_all(
    subject: EmbeddedDataset,
    config: EvaluationConfig,
    within: Callable[[_Work], Coroutine[Any, Any, tuple[Run, ...]]],
) -> tuple[Run, ...]:
    """Ask each method every question, on the database that ``within`` opens."""
    check_excluded([subject.dataset], config)
    for name in config.methods:
        check_method(name, subject.embedder)

    async def ask(store: Store, progress: ProgressCallback) -> tuple[Run, ...]:
        return await ask_all(
            store, subject.dataset, embedder=subject.embedder, config=config, progress=progress
        )

    return asyncio.run(within(ask))


async def _on_mapped(
    connection: OwnConnection, mapping: GraphMapping, work: _Work
) -> tuple[Run, ...]:
    with progress_bars() as progress:

        async def mapped(store: Store) -> tuple[Run, ...]:
            return await work(store.translated(partial(MappedGraph, mapping)), progress)

        return await on_store(connection, mapped)


def _kinds(mapping: GraphMapping, given: Sequence[str] | None) -> Sequence[str]:
    if given:
        return given
    if any(node.kind for node in mapping.nodes):
        raise typer.BadParameter("a property says the kinds: name them", param_hint="--kind")
    return [label for node in mapping.nodes if not node.connector for label in node.labels]


def _show(
    subject: EmbeddedDataset,
    runs: Sequence[Run],
    config: EvaluationConfig,
    outputs: Sequence[str],
    as_json: bool,
) -> None:
    """Write the rankings, and print the figures."""
    for done, output in zip(runs, outputs, strict=False):
        with opened(output) as stream:
            stream.writelines(f"{line}\n".encode() for line in run_lines(done))
    report = make_report(subject.dataset, runs, config)
    model = subject.embedder.name if subject.embedder is not None else None
    if as_json:
        print_json({"embedder": model, **report.plain()})
    else:
        print_report(report, model)


def _outputs(run_out: str | None, methods: Sequence[str]) -> list[str]:
    """Return a file for each method, if wanted; refuse bad names before the run."""
    if run_out is None:
        return []
    path = check_file(run_out, "--run-out")
    if len(methods) == 1:
        return [run_out]
    return [str(path.with_name(f"{path.stem}.{name}{path.suffix}")) for name in methods]
