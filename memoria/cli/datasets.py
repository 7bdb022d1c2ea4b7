"""Shared parts of the commands on datasets: options, weights, a database with the dataset.

In: arguments and the environment. Out: an `EmbeddedDataset`, and the result of a command on it.
Starts a throw-away server if no database is named.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from memoria._support.progress import ProgressCallback, progress_bars
from memoria.cli.choices import weights_named
from memoria.cli.common import is_given
from memoria.cli.connection import Connection, on_store, on_target
from memoria.cli.embedders import embedder_choice, embedder_named, load_model
from memoria.embed import DEFAULT_ONNX_MODEL, Embedder
from memoria.evaluation import (
    Dataset,
    EvaluationConfig,
    load_dataset,
    prepare,
    read_dataset,
    supplied_embedder,
)
from memoria.recall.config import RetrieverConfig
from memoria.store import Store, Target
from memoria.store.config import StoreConfig

T = TypeVar("T")

HEAP_MB = 1_024
PAGE_CACHE_MB = 256
# A run takes minutes or hours, and one slow query would end it. A recall has less time than this.
_PATIENT = StoreConfig(query_timeout_s=120.0)

Split = Annotated[str, typer.Option(help="Split of the questions, as in the names of the files.")]
Ks = Annotated[
    list[int] | None,
    typer.Option("--k", help="First ranks to count; may be repeated. Default: 2, 5, 10, 25."),
]
Limit = Annotated[
    int | None, typer.Option(min=1, help="Number of questions to ask, evenly spread.")
]
UseVectors = Annotated[
    bool, typer.Option("--use-vectors", help="Use the vectors supplied with the dataset.")
]
Raw = Annotated[
    bool,
    typer.Option("--raw", help="Write utterances as messages instead of their prepared graph."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnConnection(Connection):
    """The options that name a database; without an address a throw-away server is used."""

    uri: Annotated[
        str | None,
        typer.Option("--uri", help="Database to use; else NEO4J_URI, else a throw-away server."),
    ] = None

    @property
    def is_given(self) -> bool:
        """Tell whether the options or the environment name a database."""
        return bool(self.uri or os.environ.get("NEO4J_URI"))


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedDataset:
    """A dataset, and the source of its vectors.

    Attributes
    ----------
    embedder
        Makes the vectors of questions, and of memories unless ``use_supplied``; None searches by
        words only.
    use_supplied
        Whether the memories get the vectors supplied with the dataset.
    """

    dataset: Dataset
    embedder: Embedder | None
    use_supplied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a command reads its datasets; each field is the value of the option with that name."""

    split: str
    raw: bool
    use_vectors: bool
    embedder: str | None


def read_subjects(
    context: typer.Context, folders: Sequence[Path], how: Reading, connection: OwnConnection
) -> list[EmbeddedDataset]:
    """Read datasets; refuse an explicit embedder together with the supplied vectors."""
    if how.use_vectors and is_given(context, "embedder"):
        raise typer.BadParameter(
            "--use-vectors replaces the embedder: leave --embedder out", param_hint="--embedder"
        )
    datasets = [read_dataset(folder, split=how.split, raw=how.raw) for folder in folders]
    if how.raw and not any(dataset.chats for dataset in datasets):
        raise typer.BadParameter("the dataset has no utterances", param_hint="--raw")
    return [
        EmbeddedDataset(
            dataset=dataset,
            embedder=(
                supplied_embedder(dataset)
                if how.use_vectors
                else _embedder(how.embedder, connection)
            ),
            use_supplied=how.use_vectors,
        )
        for dataset in datasets
    ]


def _embedder(name: str | None, connection: OwnConnection) -> Embedder | None:
    """Return the named embedder, else that of the given database, else the default."""
    if name is None and connection.is_given:
        return connection.run(embedder_choice(None))
    return embedder_named(name or DEFAULT_ONNX_MODEL)


def retriever_config(relevance: str) -> RetrieverConfig:
    """Return the settings of every recall, with the weights that ``--relevance`` names."""
    return replace(EvaluationConfig().retriever, relevance=weights_named(relevance))


async def on_dataset(
    subject: EmbeddedDataset,
    connection: OwnConnection,
    work: Callable[[Store, ProgressCallback], Awaitable[T]],
) -> T:
    """Load a dataset into the given database or a throw-away server, and run ``work`` on it."""
    with progress_bars() as progress:

        async def loaded(store: Store) -> T:
            await prepare(store, subject.embedder)
            await load_model(subject.embedder, progress)
            await load_dataset(
                store,
                subject.dataset,
                embedder=subject.embedder,
                use_supplied=subject.use_supplied,
                progress=progress,
            )
            return await work(store, progress)

        if connection.is_given:
            return await on_store(connection, loaded, _PATIENT)
        from memoria.local import LocalNeo4j

        async with LocalNeo4j.ephemeral(
            heap_mb=HEAP_MB, page_cache_mb=PAGE_CACHE_MB, progress=progress
        ) as server:
            return await on_target(Target(uri=server.uri, auth=server.auth), loaded, _PATIENT)
