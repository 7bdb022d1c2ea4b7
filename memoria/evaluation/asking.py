"""Ask the questions of a dataset, method by method, one after the other.

In: a loaded dataset, an embedder, settings. Out: a `Run` for each method. Reads only.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memoria._support.progress import ProgressCallback, silent
from memoria.embed import Embedder
from memoria.evaluation.config import EvaluationConfig
from memoria.evaluation.corpus import Corpus
from memoria.evaluation.dataset import Dataset, Question
from memoria.evaluation.methods import Bench, make_method
from memoria.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The answers of one method.

    Attributes
    ----------
    method
        Name of the method.
    rankings
        Id of a question -> ids of memories, best first; questions in the order in which they were
        asked.
    latencies_s
        Time of each answer, including the embedding of the question; seconds.
    notes
        Text of a degradation -> number of answers that had it.
    """

    method: str
    rankings: Mapping[str, tuple[str, ...]]
    latencies_s: tuple[float, ...]
    notes: Mapping[str, int]


def chosen_questions(questions: Sequence[Question], limit: int | None) -> tuple[Question, ...]:
    """Return the questions to ask: all, or at most ``limit``, evenly spread over the file."""
    if limit is None or limit >= len(questions):
        return tuple(questions)
    return tuple(questions[place * len(questions) // limit] for place in range(limit))


async def ask_all(
    store: Store,
    dataset: Dataset,
    *,
    embedder: Embedder | None,
    config: EvaluationConfig,
    progress: ProgressCallback = silent,
) -> tuple[Run, ...]:
    """Ask every method all questions; the dataset must have been loaded.

    Parameters
    ----------
    embedder
        Makes the vectors of the questions; None asks by words only.

    Raises
    ------
    ConfigError
        A method of a name does not exist, or it can't be used here; see `check_method`.
    MemoriaError
        A recall failed.
    """
    corpus = Corpus(store, dataset.item_kinds)
    questions = chosen_questions(dataset.questions, config.limit)
    runs = []
    for name in config.methods:
        notes: Counter[str] = Counter()
        bench = Bench(
            store=store,
            dataset=dataset,
            embedder=embedder,
            config=config.retriever,
            corpus=corpus,
            notes=notes,
        )
        ask = await make_method(name, bench)
        for question in questions[: config.warm_up]:
            await ask(question)
        notes.clear()
        rankings: dict[str, tuple[str, ...]] = {}
        latencies_s = []
        for done, question in enumerate(questions, start=1):
            started = time.perf_counter()
            ranked = await ask(question)
            latencies_s.append(time.perf_counter() - started)
            rankings[question.id] = tuple(ranked[: config.depth])
            progress(name, done, len(questions))
        runs.append(
            Run(
                method=name,
                rankings=rankings,
                latencies_s=tuple(latencies_s),
                notes=most_common(notes),
            )
        )
    return tuple(runs)


def most_common(notes: Counter[str]) -> dict[str, int]:
    """Return how often each note was made; the most frequent first, ties by text."""
    return dict(sorted(notes.items(), key=lambda item: (-item[1], item[0])))


def run_lines(run: Run) -> Iterator[str]:
    """Yield one line of JSON for each question: its id, and the ranked ids."""
    for id_, ranked in run.rankings.items():
        yield json.dumps({"id": id_, "ranked": list(ranked)}, ensure_ascii=False)
