"""The methods of ranking that an evaluation can compare, by name.

In: a question. Out: ids of ranked memories, best first. Reads only; no method sees the gold.
A strategy asks the real engine, `GraphRetriever.recall`; a baseline does without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from memoria.embed import Embedder
from memoria.errors import ConfigError
from memoria.evaluation.baselines import Bm25, Dense, Ppr, Rrf, Scored, bm25_package
from memoria.evaluation.corpus import Corpus
from memoria.evaluation.dataset import Dataset, Question, folded
from memoria.evaluation.engine import open_engine, ranking
from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import STRATEGIES
from memoria.store import Store

Method = Callable[[Question], Awaitable[list[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The memories and settings that methods work with.

    Attributes
    ----------
    embedder
        Makes the vectors of the questions, or None.
    config
        Settings of every recall.
    corpus
        Memories and edges of the scopes, for the baselines.
    notes
        Text of a degradation -> number of recalls that had it.
    """

    store: Store
    dataset: Dataset
    embedder: Embedder | None
    config: RetrieverConfig
    corpus: Corpus
    notes: Counter[str]


def check_method(name: str, embedder: Embedder | None) -> None:
    """Raise if a method of this name does not exist, or if it can't be used here; opens nothing."""
    if name not in METHODS:
        raise ConfigError(
            f"method must be one of {', '.join(METHODS)}; got {name!r}", field="method"
        )
    if name in _NEED_VECTORS and embedder is None:
        raise ConfigError(
            f"{name} needs vectors: name an embedder, or use the vectors of the dataset "
            "(--use-vectors)"
        )
    if name in _NEED_PACKAGE:
        bm25_package()


async def make_method(name: str, bench: Bench) -> Method:
    """Set up the method of this name: the bench's strategy, or one of `METHODS`."""
    if name == bench.config.strategy.name:  # of the user's own, it need not be in the registry
        return await _engine(bench, bench.config)
    check_method(name, bench.embedder)
    if name in STRATEGIES:
        return await _engine(bench, replace(bench.config, strategy=STRATEGIES[name]))
    baseline = BASELINES[name](bench)

    async def ask(question: Question) -> list[str]:
        return _items(bench.dataset, question, [id_ for id_, _ in await baseline(question)])

    return ask


async def _engine(bench: Bench, config: RetrieverConfig) -> Method:
    """Ask the engine with these settings."""
    engine = await open_engine(bench.store, bench.dataset, embedder=bench.embedder, config=config)

    async def ask(question: Question) -> list[str]:
        recall = await engine(question)
        bench.notes.update(recall.trace.degraded)
        return _items(bench.dataset, question, ranking(recall, bench.dataset.item_kinds))

    return ask


def _items(dataset: Dataset, question: Question, ids: Sequence[str]) -> list[str]:
    """Return the ranked items, each once; a message in parts has the rank of its best part."""
    return list(folded(dataset.items_of(question.scope, ids)))


def _dense(bench: Bench) -> Dense:
    if bench.embedder is None:
        raise ConfigError("dense needs an embedder")
    return Dense(corpus=bench.corpus, embedder=bench.embedder)


def _rrf(bench: Bench) -> Rrf:
    return Rrf(dense=_dense(bench), bm25=Bm25(bench.corpus))


#: Name -> how it is set up. Further methods are the strategies of the engine.
BASELINES: Mapping[str, Callable[[Bench], Callable[[Question], Awaitable[Scored]]]] = {
    "dense": _dense,
    "bm25": lambda bench: Bm25(bench.corpus),
    "rrf": _rrf,
    "ppr": lambda bench: Ppr(corpus=bench.corpus, rrf=_rrf(bench)),
}
METHODS = (*STRATEGIES, *BASELINES)
_NEED_VECTORS = {"dense", "rrf", "ppr"}
_NEED_PACKAGE = {"bm25", "rrf", "ppr"}
