"""The questions that every contender is asked.

In: a graph and a seed. Out: `Case`s and `Question`s. Touches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.race.graphs import CHUNK, Floats, Graph
from memoria.types import Seed

SEEDS = 5
TAGS = 3
WORDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Seeds to explore from, and the tags of the query."""

    seeds: tuple[Seed, ...]
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a whole recall is asked: words, their vector, and tags."""

    text: str
    vector: Floats
    tags: tuple[str, ...] = ()


def make_cases(graph: Graph, count: int, *, seed: int = 1) -> list[Case]:
    """Draw five seeds for each case, any node alike; every other case has tags."""
    rng = np.random.default_rng([seed, 7])
    cases = []
    for number in range(count):
        nodes = rng.choice(len(graph.ids), SEEDS, replace=False)
        scores = [1.0, *sorted(rng.uniform(0.5, 1.0, SEEDS - 1), reverse=True)]
        cases.append(
            Case(
                seeds=tuple(
                    Seed(id=graph.ids[node], score=float(score))
                    for node, score in zip(nodes, scores, strict=True)
                ),
                tags=_tags(graph, rng) if graph.query_tags and number % 2 else (),
            )
        )
    return cases


def make_questions(graph: Graph, count: int, *, seed: int = 1) -> list[Question]:
    """Ask for embedded memories, by some of their words and a vector near theirs."""
    rng = np.random.default_rng([seed, 8])
    nodes = rng.integers(graph.embedded, size=count)
    asked: dict[int, Question] = {}
    for start in np.unique(nodes - nodes % CHUNK).tolist():
        stop = min(start + CHUNK, graph.embedded)
        texts, vectors = graph.texts(start, stop), graph.vectors(start, stop)
        for number in np.flatnonzero((nodes >= start) & (nodes < stop)).tolist():
            place = nodes[number] - start
            vector = vectors[place] + rng.normal(scale=0.02, size=vectors.shape[1])
            words = rng.permutation(texts[place].split())[:WORDS]
            asked[number] = Question(
                text=f"{' '.join(words)} question{number}",
                vector=vector / np.linalg.norm(vector),
                tags=_tags(graph, rng) if number % 2 else (),
            )
    return [asked[number] for number in range(count)]


def _tags(graph: Graph, rng: np.random.Generator) -> tuple[str, ...]:
    """Tags of a few edges: what people ask about is what memories are about."""
    picked = graph.tags[rng.integers(len(graph.tags), size=2 * TAGS)]
    found = dict.fromkeys(tag for number in picked for tag in graph.tag_sets[number])
    return tuple(sorted(list(found)[:TAGS]))
