"""Baselines: simple ways to rank the same memories without a recall, which strategies must beat.

In: a question. Out: ids, best first. Reads only, and each scope only once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoria._support.extras import install_command
from memoria.embed import Embedder, check_vectors
from memoria.errors import ConfigError
from memoria.evaluation.corpus import Corpus, Graph
from memoria.evaluation.dataset import Question
from memoria.formulas.fusion import reciprocal_rank_fusion

RRF_K = 60.0
RRF_DEPTH = 100
PPR_SEEDS = 5
PPR_DAMPING = 0.5
PPR_TOLERANCE = 1e-10
# Scores that differ only after these digits count as equal, because another machine may add up the
# same floats in another order.
DIGITS = 10

Scored = list[tuple[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dense:
    """Exact cosine of the vector of the question and the vectors of all items."""

    corpus: Corpus
    embedder: Embedder

    async def __call__(self, question: Question) -> Scored:
        """Score every item that has a vector."""
        given = await self.embedder.embed_query(question.text)
        name, dimensions = self.embedder.name, self.embedder.dimensions
        vector = np.array(check_vectors([given], name=name, count=1, dimensions=dimensions)[0])
        items = await self.corpus.items(question.scope)
        if not items.vectors.size:
            return []
        scores = items.vectors @ (vector / np.linalg.norm(vector))
        has_vector = np.abs(items.vectors).sum(axis=1) > 0
        return best(items.ids, scores, has_vector & items.before(question.asked_at))


class Bm25:
    """BM25 (Okapi) of the words of the question and the words of all items."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._package = bm25_package()
        self._indexes: dict[str, Any] = {}

    async def __call__(self, question: Question) -> Scored:
        """Score every item that shares a word with the question."""
        scope = question.scope
        items = await self._corpus.items(scope)
        if scope not in self._indexes:
            texts = [words(text) for text in items.texts]
            self._indexes[scope] = self._package.BM25Okapi(texts) if any(texts) else None
        index, asked = self._indexes[scope], words(question.text)
        if index is None:
            return []
        scores = index.get_scores(asked)
        return best(items.ids, scores, (scores != 0) & items.before(question.asked_at))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rrf:
    """The sum of the reciprocal ranks among the first hundred by cosine and by BM25."""

    dense: Dense
    bm25: Bm25

    async def __call__(self, question: Question) -> Scored:
        """Fuse both rankings."""
        lists = [await self.dense(question), await self.bm25(question)]
        fused = reciprocal_rank_fusion([found[:RRF_DEPTH] for found in lists], k=RRF_K)
        return sorted(fused.items(), key=lambda hit: (-hit[1], hit[0]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ppr:
    """Personalised PageRank over the scope's graph, from the first five of `Rrf`."""

    corpus: Corpus
    rrf: Rrf

    async def __call__(self, question: Question) -> Scored:
        """Rank the items by the mass that reaches them."""
        seeds = (await self.rrf(question))[:PPR_SEEDS]
        graph = await self.corpus.graph(question.scope)
        items = await self.corpus.items(question.scope)
        mass = page_rank(graph, dict(seeds))
        allowed = np.array(items.ids)[items.before(question.asked_at)]
        chosen = np.isin(np.array(graph.ids), allowed) & (mass > 0)
        return best(graph.ids, mass, chosen)


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case.

    >>> words("Tea, or Kaffe-2?")
    ['tea', 'or', 'kaffe', '2']
    """
    return re.findall(r"\w+", text.lower())


def best(ids: Sequence[str], scores: NDArray[np.float64], chosen: NDArray[np.bool_]) -> Scored:
    """Return the chosen ids, highest score first, ties by id."""
    places: list[int] = np.flatnonzero(chosen).tolist()
    values: list[float] = np.round(scores, DIGITS).tolist()
    places.sort(key=lambda place: (-values[place], ids[place]))
    return [(ids[place], values[place]) for place in places]


def page_rank(graph: Graph, seeds: dict[str, float]) -> NDArray[np.float64]:
    """Return the mass of each memory in a random walk that restarts at the seeds.

    Parameters
    ----------
    seeds
        Id -> share of the restarts, > 0, on any scale.

    Notes
    -----
    Power iteration, until the mass changes by less than 1e-10 in total. The mass of a memory
    without edges goes back to the seeds.
    """
    place = {id_: number for number, id_ in enumerate(graph.ids)}
    restart = np.zeros(len(graph.ids))
    for id_, share in seeds.items():
        if id_ in place:
            restart[place[id_]] = share
    if not restart.any():
        return restart
    restart /= restart.sum()
    mass = restart
    while True:
        passed = mass[graph.sources] * graph.shares
        walked = np.bincount(graph.targets, weights=passed, minlength=len(mass))
        walked += restart * (1.0 - walked.sum())
        after = PPR_DAMPING * walked + (1 - PPR_DAMPING) * restart
        if np.abs(after - mass).sum() < PPR_TOLERANCE:
            return after
        mass = after


def bm25_package() -> ModuleType:
    """Import the package that counts BM25."""
    try:
        import rank_bm25
    except ImportError as exc:
        raise ConfigError(
            "bm25, rrf and ppr need a package that is not installed: "
            + install_command("evaluation")
        ) from exc
    module: ModuleType = rank_bm25
    return module
