"""Questions that a dataset can't answer: its unanswerable ones, those of other sets, small talk.

In: datasets. Out: for each, questions to ask in its scopes. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, zip_longest

from memoria.evaluation.asking import chosen_questions
from memoria.evaluation.config import EvaluationConfig
from memoria.evaluation.dataset import Dataset, Question
from memoria.evaluation.report import headline_questions
from memoria.recall.asides import examples

#: Category of the messages that ask for nothing.
SMALL_TALK = "small talk"
#: Share of foreign questions: as many for each of the dataset's own.
SHARE = 0.5


def foreign_questions(
    datasets: Sequence[Dataset], config: EvaluationConfig
) -> list[tuple[Question, ...]]:
    """Return for each dataset its unanswerable questions, those of other datasets, and small talk.

    Notes
    -----
    If the number of questions is limited, the unanswerable ones are limited by the same share. The
    foreign questions are half as many as the dataset's own and spread over its scopes. They come
    from the other datasets in turn, spread over the file of each. A single dataset gets questions
    from its other scopes instead, or none if it has only one scope. There are as many messages of
    small talk, which ask for nothing.
    """
    asked = [headline_questions(dataset, config) for dataset in datasets]
    found = []
    for place, dataset in enumerate(datasets):
        scopes = sorted(dataset.memories)
        others = [questions for n, questions in enumerate(asked) if n != place] or [asked[place]]
        count = int(SHARE * len(asked[place]))
        each = -(-count // len(others))
        turns = zip_longest(*(chosen_questions(questions, each) for questions in others))
        mixed = islice((one for turn in turns for one in turn if one is not None), count)
        chosen = (_asked_in(one, scopes, n) for n, one in enumerate(mixed))
        own = _unanswerable(dataset, config)
        talk = _small_talk(scopes, count)
        found.append((*own, *(one for one in chosen if one is not None), *talk))
    return found


def _unanswerable(dataset: Dataset, config: EvaluationConfig) -> tuple[Question, ...]:
    kept = [one for one in dataset.unanswerable if one.category not in config.excluded]
    asked = len(chosen_questions(dataset.questions, config.limit))
    return chosen_questions(kept, len(kept) * asked // len(dataset.questions))


def _small_talk(scopes: Sequence[str], count: int) -> Iterator[Question]:
    texts = examples()
    count = min(count, len(texts))
    for n in range(count):
        text, scope = texts[n * len(texts) // count], scopes[n % len(scopes)]
        yield Question(id=f"small talk {n}", text=text, gold=(), category=SMALL_TALK, scope=scope)


def _asked_in(question: Question, scopes: Sequence[str], number: int) -> Question | None:
    """Return the question for one of the scopes, which is not its own; None if there is none."""
    left = [scope for scope in scopes if scope != question.scope]
    if not left:
        return None
    scope = left[number % len(left)]
    id_ = f"foreign {number}: {question.id}"
    return replace(question, id=id_, gold=(), scope=scope, asked_at=None)
