"""How well questions find their evidence: ``evaluate``."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from memoria.cli.common import (
    Database,
    EmbedderName,
    Json,
    PasswordFile,
    User,
    embedder_named,
    on_store,
    print_facts,
    run,
    target,
)
from memoria.cli.figures import print_report
from memoria.cli.output import opened
from memoria.config import RetrieverConfig
from memoria.embed import DEFAULT_ONNX_MODEL, Embedder, OnnxEmbedder
from memoria.evaluation import (
    METHODS,
    Dataset,
    EvaluationConfig,
    Run,
    ask_all,
    check_excluded,
    check_method,
    load_dataset,
    make_report,
    prepare,
    read_dataset,
    run_lines,
    supplied_embedder,
)
from memoria.progress import ProgressCallback, progress_bars
from memoria.store import Store, Target
from memoria.weights import RelevanceConfig

DEFAULTS = EvaluationConfig()
HEAP_MB = 1_024
PAGE_CACHE_MB = 256

Folder = Annotated[Path, typer.Argument(help="Folder with nodes, edges and questions.")]
Split = Annotated[str, typer.Option(help="Which questions: a part of the files' names.")]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help=f"{', '.join(METHODS)}; may be repeated. Default: transfer."),
]
Ks = Annotated[
    list[int] | None,
    typer.Option("--k", help="First ranks to count; may be repeated. Default: 2, 5, 10, 25."),
]
Excluded = Annotated[
    list[str] | None, typer.Option(help="Category to leave out of the headline; may be repeated.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Questions to ask, evenly spread.")]
RunOut = Annotated[
    str | None,
    typer.Option(help="File for the rankings; with several methods each gets one, named by it."),
]
UseVectors = Annotated[
    bool, typer.Option("--use-vectors", help="Use the vectors supplied with the dataset.")
]
Weights = Annotated[
    str,
    typer.Option("--relevance", help="default, none (rank by energy), or a file of weights."),
]
OwnUri = Annotated[
    str | None,
    typer.Option("--uri", help="Database to use; else NEO4J_URI, else a throw-away server."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """What is to be measured: dataset, embedder, settings."""

    dataset: Dataset
    model: Embedder | None
    use_vectors: bool
    config: EvaluationConfig

    def check(self) -> None:
        """Refuse what can't be done before a server is started for it."""
        check_excluded(self.dataset, self.config)
        for name in self.config.methods:
            check_method(name, self.model)

    async def on(self, store: Store, progress: ProgressCallback) -> tuple[Run, ...]:
        """Load, and ask."""
        await prepare(store, self.model)
        if isinstance(self.model, OnnxEmbedder):
            await self.model.load(progress)
        await load_dataset(
            store,
            self.dataset,
            embedder=self.model,
            use_supplied=self.use_vectors,
            progress=progress,
        )
        return await ask_all(
            store, self.dataset, embedder=self.model, config=self.config, progress=progress
        )


def evaluate(
    context: typer.Context,
    dataset_dir: Folder,
    split: Split = "dev",
    method: Methods = None,
    k: Ks = None,
    exclude_category: Excluded = None,
    limit: Limit = None,
    run_out: RunOut = None,
    use_vectors: UseVectors = False,
    relevance: Weights = "default",
    embedder: EmbedderName = DEFAULT_ONNX_MODEL,
    uri: OwnUri = None,
    user: User = None,
    password_file: PasswordFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Measure how well the questions of a dataset find their evidence.

    Writes the dataset into scopes of its own, asks each method every question, and prints
    recall@k and full@k (all evidence among the first k) by category with intervals of 95 %, the
    differences from the baselines (dense, bm25, rrf, ppr), and the time of an answer.

    A database remembers one embedder, so a throw-away server is started for the run. With --uri
    or NEO4J_URI that database is used; the scopes stay there, for the next run.

    Examples
    --------
    memoria evaluate data/notes --use-vectors
    memoria evaluate data/notes --method transfer --method rrf --limit 100 --json
    memoria evaluate data/talks --use-vectors --exclude-category unanswerable --run-out run.jsonl
    """
    said = context.get_parameter_source("embedder")
    if use_vectors and said is not None and said.name == "COMMANDLINE":
        raise typer.BadParameter(
            "the supplied vectors take its place: leave it out", param_hint="--embedder"
        )
    config = EvaluationConfig(
        methods=tuple(method or DEFAULTS.methods),
        ks=tuple(k or DEFAULTS.ks),
        excluded=tuple(exclude_category or ()),
        limit=limit,
        retriever=_retriever_config(relevance),
    )
    outputs = _outputs(run_out, config.methods)
    dataset = read_dataset(dataset_dir, split=split)
    model = supplied_embedder(dataset) if use_vectors else embedder_named(embedder)
    task = _Task(dataset=dataset, model=model, use_vectors=use_vectors, config=config)
    task.check()
    given = uri or os.environ.get("NEO4J_URI")
    where = target(given, user, password_file, database) if given else None
    runs: tuple[Run, ...] = run(_measure(task, where))
    for done, output in zip(runs, outputs, strict=False):
        with opened(output) as stream:
            stream.writelines(f"{line}\n".encode() for line in run_lines(done))
    report = make_report(dataset, runs, config)
    name = model.name if model is not None else None
    if as_json:
        print_facts({"embedder": name, **report.plain()}, True, "")
    else:
        print_report(report, name)


def _retriever_config(relevance: str) -> RetrieverConfig:
    """Return the settings of every recall."""
    if relevance == "default":
        return DEFAULTS.retriever
    weights = None if relevance == "none" else RelevanceConfig.load(relevance)
    return replace(DEFAULTS.retriever, relevance=weights)


async def _measure(task: _Task, where: Awaitable[Target] | None) -> tuple[Run, ...]:
    """Do the task on the database given, or on a server started for it."""
    with progress_bars() as progress:
        if where is not None:
            return await on_store(where, lambda store: task.on(store, progress))
        from memoria.local import LocalNeo4j

        async with LocalNeo4j.ephemeral(
            heap_mb=HEAP_MB, page_cache_mb=PAGE_CACHE_MB, progress=progress
        ) as server:
            own = _known(Target(uri=server.uri, auth=server.auth))
            return await on_store(own, lambda store: task.on(store, progress))


async def _known(where: Target) -> Target:
    return where


def _outputs(run_out: str | None, methods: Sequence[str]) -> list[str]:
    """Name a file for each method, if any is wanted; refuse before the run what can't be one."""
    if run_out is None:
        return []
    path = Path(run_out)
    if run_out == "-" or not path.name or path.is_dir() or not path.parent.is_dir():
        raise typer.BadParameter(
            f"{run_out!r} must name a file, in a folder that is there", param_hint="--run-out"
        )
    if len(methods) == 1:
        return [run_out]
    return [str(path.with_name(f"{path.stem}.{name}{path.suffix}")) for name in methods]
