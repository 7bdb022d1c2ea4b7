"""Measure how well questions find their evidence: ``evaluate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from memoria._support.progress import ProgressCallback
from memoria.cli.choices import Weights
from memoria.cli.common import (
    Json,
    print_facts,
    run,
)
from memoria.cli.datasets import (
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
from memoria.cli.embedders import EmbedderName
from memoria.cli.figures import print_report
from memoria.cli.output import check_file, opened
from memoria.evaluation import (
    METHODS,
    EvaluationConfig,
    Run,
    ask_all,
    check_excluded,
    check_method,
    make_report,
    run_lines,
)
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

    Examples
    --------
    memoria evaluate data/notes --use-vectors
    memoria evaluate data/notes --method transfer --method rrf --limit 100 --json
    memoria evaluate data/chats
    memoria evaluate data/talks --use-vectors --exclude-category unanswerable --run-out run.jsonl
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
    how = Reading(split=split, raw=raw, use_vectors=use_vectors, embedder=embedder)
    [subject] = read_subjects(context, [dataset_dir], how, connection)
    check_excluded([subject.dataset], config)
    for name in config.methods:
        check_method(name, subject.embedder)

    async def ask(store: Store, progress: ProgressCallback) -> tuple[Run, ...]:
        return await ask_all(
            store, subject.dataset, embedder=subject.embedder, config=config, progress=progress
        )

    runs = run(on_dataset(subject, connection, ask))
    for done, output in zip(runs, outputs, strict=False):
        with opened(output) as stream:
            stream.writelines(f"{line}\n".encode() for line in run_lines(done))
    report = make_report(subject.dataset, runs, config)
    model = subject.embedder.name if subject.embedder is not None else None
    if as_json:
        print_facts({"embedder": model, **report.plain()}, True, "")
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
