"""Ask the questions of a dataset, and keep the features of each memory that was found.

In: a loaded dataset, an embedder, settings. Out: `Answers`. Reads only; the engine never sees the
gold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from memoria._support.progress import ProgressCallback, silent
from memoria.embed import Embedder
from memoria.evaluation.asking import most_common
from memoria.evaluation.calibrating import Flags
from memoria.evaluation.config import EvaluationConfig
from memoria.evaluation.dataset import Dataset, Question, folded
from memoria.evaluation.engine import open_engine, ranked_items, ranking
from memoria.evaluation.fit import Example
from memoria.evaluation.report import headline_questions
from memoria.recall.ranking import (
    needed_by,
    turned,
    weighted_sum,
    with_adjacent,
    with_needs,
    with_session,
)
from memoria.recall.ranking.calibration import OF_QUESTION
from memoria.recall.ranking.config import FEATURES, RelevanceConfig
from memoria.recall.ranking.energy import rank_by_energy
from memoria.store import Store
from memoria.types import Recall

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The memories that were found for one question.

    Attributes
    ----------
    before
        Ids in the order of the recall, best first; a message has the rank of its best part.
    ids, features
        Ids that other weights can rank again, and their features in the order of ``FEATURES``;
        (N,) and (N, F).
    needs
        Id -> id of each memory that it needs -> weight of the edge.
    adjacent
        As `RankedMemory.adjacent`, by id.
    sessions
        As `RankedMemory.session`, by id.
    messages
        Id of a memory -> id of the message that it counts as. Others count as themselves.
    likeness
        The features of the calibration that belong to the question: `OF_QUESTION`; empty if they
        are not known.
    """

    question: Question
    before: tuple[str, ...]
    ids: tuple[str, ...]
    features: Array
    needs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    adjacent: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sessions: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    likeness: Mapping[str, float] = field(default_factory=dict)

    @property
    def items(self) -> tuple[str, ...]:
        """Return the item that each id counts as, comparable with the gold; (N,)."""
        return tuple(self.messages.get(id_, id_) for id_ in self.ids)

    @property
    def is_gold(self) -> Flags:
        """Tell for each id whether it counts as evidence; (N,)."""
        return np.isin(self.items, self.question.gold)

    def summed(self, weights: Array) -> tuple[dict[str, Array], Array]:
        """Return the features by name, those of the calibration, too, and the sums; (N,)."""
        values = dict(zip(FEATURES, self.features.T, strict=True))
        sums = weighted_sum(values, dict(zip(FEATURES, weights, strict=True)))
        in_order = with_adjacent(sums, sums, self.ids, self.adjacent)
        in_session = with_session(in_order, sums, self.ids, self.sessions)
        values |= {name: np.full(len(self.ids), value) for name, value in self.likeness.items()}
        return values, with_needs(in_session, self.ids, self.needs)

    def ranked(self, weights: Array) -> tuple[str, ...]:
        """Return the items in the order of a recall with these weights, best first."""
        _, sums = self.summed(weights)
        order, items = np.lexsort((np.array(self.ids), -sums)), self.items
        return tuple(items[place] for place in order)

    def example(self, kept: Array) -> Example:
        """Return an example for the fit: the features times ``kept``, (F,), and the gold.

        What evidence needs is left out: needs bring it, whatever the weights are, and a fit would
        otherwise make all links strong enough to bring it as well.
        """
        gold = self.is_gold
        brought = needed_by((self.ids[row] for row in np.flatnonzero(gold)), self.needs)
        rows = [row for row, id_ in enumerate(self.ids) if id_ not in brought]
        return Example(features=self.features[rows] * kept, gold=gold[rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers to the questions of one dataset.

    Attributes
    ----------
    dataset, split, embedder
        Names; that of the embedder is None if the questions were asked by words only.
    answers
        One for each question, in the order of the file, without the excluded categories.
    foreign
        One for each foreign question: nothing in the dataset is its evidence.
    notes
        Text of a degradation -> number of answers that had it.
    """

    dataset: str
    split: str
    embedder: str | None
    answers: tuple[Answer, ...]
    notes: Mapping[str, int]
    foreign: tuple[Answer, ...] = ()


async def ask_features(
    store: Store,
    dataset: Dataset,
    *,
    embedder: Embedder | None,
    config: EvaluationConfig,
    foreign: Sequence[Question] = (),
    progress: ProgressCallback = silent,
) -> Answers:
    """Ask the engine every question; the dataset must have been loaded.

    Parameters
    ----------
    embedder
        Makes the vectors of the questions; None asks by words only.
    config
        ``config.retriever`` says how ``before`` is ranked: without relevance weights, by energy.
    foreign
        Further questions, which nothing in the dataset answers; see `foreign_questions`.
    """
    by_energy = config.retriever.relevance is None
    retriever = config.retriever
    if by_energy:  # a recall returns features only if it has weights; any weights will do
        retriever = replace(retriever, relevance=RelevanceConfig.default())
    engine = await open_engine(store, dataset, embedder=embedder, config=retriever)
    questions = headline_questions(dataset, config)
    notes: Counter[str] = Counter()
    answers = []
    asked = (*questions, *foreign)
    for done, question in enumerate(asked, start=1):
        recall = await engine(question)
        notes.update(recall.trace.degraded)
        answers.append(_answer(question, recall, dataset, by_energy))
        progress("questions", done, len(asked))
    return Answers(
        dataset=dataset.name,
        split=dataset.split,
        embedder=None if embedder is None else embedder.name,
        answers=tuple(answers[: len(questions)]),
        foreign=tuple(answers[len(questions) :]),
        notes=most_common(notes),
    )


def _answer(question: Question, recall: Recall, dataset: Dataset, by_energy: bool) -> Answer:
    found = {entry.id: entry for entry in ranked_items(recall, dataset.item_kinds)}
    if by_energy:
        recall = replace(recall, ranked=rank_by_energy(recall.explorations))
    before = dataset.items_of(question.scope, ranking(recall, dataset.item_kinds))
    ids = tuple(sorted(found))  # same order as in a recall
    rows = [[found[id_].features[name] for name in FEATURES] for id_ in ids]
    return Answer(
        question=question,
        before=folded(before),
        ids=ids,
        features=np.array(rows, dtype=np.float64).reshape(len(rows), len(FEATURES)),
        needs=turned({id_: found[id_].needed_by for id_ in ids}),
        adjacent={id_: found[id_].adjacent for id_ in ids if found[id_].adjacent},
        sessions={id_: session for id_ in ids if (session := found[id_].session) is not None},
        messages=dict(zip(ids, dataset.items_of(question.scope, ids), strict=True)),
        likeness={
            name: value
            for id_ in ids[:1]
            for name, value in found[id_].features.items()
            if name in OF_QUESTION
        },
    )
