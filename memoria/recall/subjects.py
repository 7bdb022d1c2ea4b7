"""Tell how people state the facts that a question asks for, as a vector to search with.

In: vectors of examples and of a question. Out: a model of the examples, and a vector, the probe.
Reads the examples that come with the package, and the model made of them for the default embedder.

"Where do I live?" shares neither words nor much meaning with "We signed the lease on Friday". The
examples join them: for each subject of a life, such as home, work or health, they have questions
and statements in several languages, and many of the statements only imply a change. The probe
points to where statements of the question's subject differ from all others. They also have what
people say of somebody else, of the past, or of mere wishes: "My uncle moved to the mountains". The
probe turns away from these.

An embedder places the languages apart, and a model of one language places the subjects of another
one differently. So there is a direction for each subject and language, and the probe is made of
those for the language of the question.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoria._support.sentences import sentences
from memoria.embed import DEFAULT_ONNX_MODEL
from memoria.recall import asides
from memoria.recall.examples import unit_vectors
from memoria.recall.ranking import Likeness
from memoria.recall.ranking.substance import substance

Array = NDArray[np.float64]

_EXAMPLES = Path(__file__).with_suffix(".txt")
#: The model by the default embedder; ``scripts/embed_examples.py`` writes the file.
FITTED = Path(__file__).with_suffix(".npz")
# Any other embedder first embeds so many examples of each kind for each subject and language, since
# it may take minutes to embed all of them.
_OF_EACH_KIND = 3
# Statements that tell what cosines with a probe are usual, evenly spread over all; at least.
_USUAL = 500
# Differences of cosines, here and below, are on the scale of the default embedder; see `Likeness`.
# Cosines of a question with those of two subjects that differ by so much make the nearer one e
# times as probable.
_SOFTNESS = 0.05
# The same for two languages, by the three nearest questions of each.
_LANGUAGE_SOFTNESS, _NEAREST = 0.05, 3
# Pull towards 0 of the regressions that tell the subjects apart. Hardly matters from 3 to 6.
_PENALTY = 6.0
# Weights of the statements in other languages, and of small talk, in the regressions for a
# language; its own statements have the weight 1.
_OTHER_LANGUAGES, _SMALL_TALK = 0.1, 0.3
# A question that is nearer to questions about facts than to small talk by the second number or more
# asks for a fact; by the first or less, it may be small talk. Of the examples of small talk, fewer
# than one in twenty are nearer by the first, and fewer than one in a hundred by the second.
_NO_NEARER, _MUCH_NEARER = 0.05, 0.12
# Shares of two vectors in the probe, besides that of the subject: of the question itself, which has
# what no subject has, such as a name, and of the direction from others' facts to the user's own.
_QUESTION, _OWN = 0.25, 0.25
# Begins an example that is not a fact of the user's present.
_NOT_OWN = "- "
_LANGUAGE = re.compile(r"\[([a-z]{2})\]")
# The label of statements of no subject.
_NONE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question about a fact, or a statement.

    Attributes
    ----------
    text
        The words; a question ends with "?".
    subject
        Number of its subject, from 0 on.
    language
        Its language, as two letters.
    own
        Whether it is a fact of the user's present, or asks for one.
    """

    text: str
    subject: int
    language: str
    own: bool

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return self.text.endswith("?")


@cache
def subjects() -> tuple[Example, ...]:
    """Return the examples of all subjects, in order.

    In the file, an empty line ends a subject, a line such as "[de]" tells the language of those
    below it, and statements of anything but the user's present begin with "- ".
    """
    found, language = [], ""
    blocks = _EXAMPLES.read_text(encoding="utf-8").strip().split("\n\n")
    for subject, block in enumerate(blocks):
        for line in block.splitlines():
            if (told := _LANGUAGE.fullmatch(line)) is not None:
                language = told[1]
                continue
            text, own = line.removeprefix(_NOT_OWN), not line.startswith(_NOT_OWN)
            found.append(Example(text=text, subject=subject, language=language, own=own))
    return tuple(found)


def asks_alone(message: str) -> bool:
    """Tell whether a message has only one sentence, apart from courtesies.

    In a longer message, the other sentences decide the vector more than its question does.

    >>> asks_alone("Hello! Where do I live?")
    True
    >>> asks_alone("The meal plan is sorted. What is the next step for my trip?")
    False
    """
    return sum(substance(one) > 0 for one in sentences(message)) <= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A vector to search with.

    Attributes
    ----------
    vector
        Near to statements of the question's subject; of length 1.
    share
        How surely the question asks for a fact of a subject, above 0 and up to 1.
    margin
        Margin (`Likeness.margin`) of the nearest example of a question, above 0.
    usual
        Mean and standard deviation of the cosines of the vector with the examples of all subjects.
    """

    vector: tuple[float, ...]
    share: float
    margin: float
    usual: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Directions made of the vectors of examples, by `fit`: S subjects, L languages, d dimensions.

    Attributes
    ----------
    questions
        Vectors of the questions; (Q, d).
    asked, tongues
        Numbers of the subject and of the language of each question; (Q,).
    directions
        Where statements of a subject differ from all others, for each language; (L, S, d).
    own
        For each language, the direction from others' facts to the user's own; of length 1, (L, d).
    usual
        Vectors of some statements, evenly spread; (U, d).
    """

    questions: Array
    asked: NDArray[np.int64]
    tongues: NDArray[np.int64]
    directions: Array
    own: Array
    usual: Array

    @classmethod
    def read(cls, file: Path | BytesIO) -> Model:
        """Read what `write` wrote."""
        with np.load(file) as kept:
            arrays = {each.name: kept[each.name] for each in fields(cls)}
        return cls(
            **{
                name: array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
                for name, array in arrays.items()
            }
        )

    def write(self, file: Path | BytesIO) -> None:
        """Write the model, its numbers as float16, with the `edition`."""
        arrays = {each.name: getattr(self, each.name) for each in fields(self)}
        short = {
            name: array.astype(np.float16)
            for name, array in arrays.items()
            if array.dtype.kind == "f"
        }
        np.savez(file, edition=edition(), **(arrays | short))

    def probe(self, vector: Array, like: Likeness) -> Probe | None:
        """Return a vector near statements that may answer; None without a known subject."""
        question = unit_vectors(vector[None])[0]
        cosines_asked = self.questions @ question
        near = like.on_default_scale(cosines_asked)
        cosines = np.full(self.directions.shape[1], -np.inf)
        np.maximum.at(cosines, self.asked, near)
        difference = float(cosines.max()) - like.on_default_scale(like.aside)
        nearer = (difference - _NO_NEARER) / (_MUCH_NEARER - _NO_NEARER)
        if nearer <= 0:
            return None
        by_language = self._languages(near)
        shares = np.exp((cosines - cosines.max()) / _SOFTNESS)
        direction = unit_vectors((shares @ np.tensordot(by_language, self.directions, 1))[None])[0]
        own = unit_vectors((by_language @ self.own)[None])[0]
        probe = unit_vectors((direction + _QUESTION * question + _OWN * own)[None])[0]
        usual = self.usual @ probe
        return Probe(
            vector=tuple(probe.tolist()),
            share=min(nearer, 1.0),
            margin=like.margin(float(cosines_asked.max())),
            usual=(float(usual.mean()), float(usual.std())),
        )

    def _languages(self, near: Array) -> Array:
        """Return the share of each language in a question, by its cosines with all questions."""
        each = [near[self.tongues == number] for number in range(len(self.directions))]
        cosines = np.array([np.sort(one)[-_NEAREST:].mean() for one in each])
        shares = np.exp((cosines - cosines.max()) / _LANGUAGE_SOFTNESS)
        found: Array = shares / shares.sum()
        return found


@cache
def shipped(file: Path) -> Model:
    """Return the model of the package, which all retrievers share."""
    return Model.read(file)


def edition() -> str:
    """Return a digest of all that the shipped model was made of; it differs if that has changed."""
    made_of = (DEFAULT_ONNX_MODEL, _PENALTY, _OTHER_LANGUAGES, _SMALL_TALK, _USUAL)
    texts = "\n".join((*(repr(one) for one in subjects()), *asides.examples()))
    return hashlib.sha256(f"{made_of}\n{texts}".encode()).hexdigest()


@cache
def parts() -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """Return the first three examples of each kind for each subject and language, and the rest."""
    counts = Counter[tuple[int, str, bool, bool]]()
    few, others = list[Example](), list[Example]()
    for one in subjects():
        kind = (one.subject, one.language, one.asks, one.own)
        counts[kind] += 1
        (few if counts[kind] <= _OF_EACH_KIND else others).append(one)
    return tuple(few), tuple(others)


def fit(told: Sequence[Example], vectors: Array, small_talk: Array) -> Model:
    """Make the model from the vectors of examples.

    Parameters
    ----------
    told
        The examples; N, with at least one question in each language.
    vectors, small_talk
        Vectors of length 1 of the examples, and of texts that state no fact; (N, d) and (M, d).

    Returns
    -------
    Model
        Languages are in the order of their names.
    """
    names = sorted({each.language for each in told})
    subject = np.array([each.subject for each in told], np.int64)
    language = np.array([names.index(each.language) for each in told], np.int64)
    asks, own = np.array([[each.asks, each.own] for each in told]).T
    stated, is_own = vectors[~asks], own[~asks]
    labels = np.where(is_own, subject[~asks], _NONE)
    is_own_language = language[~asks] == np.arange(len(names))[:, None]
    weights = np.where(is_own_language, 1.0, _OTHER_LANGUAGES)
    of_small_talk = np.full((len(names), len(small_talk)), _SMALL_TALK)
    by_subject = directions(
        np.concatenate([stated, small_talk]),
        np.concatenate([labels, np.full(len(small_talk), _NONE)]),
        int(subject.max()) + 1,
        np.concatenate([weights, of_small_talk], axis=1),
    )
    of_own = directions(stated, np.where(is_own, 0, 1), 2, weights)[:, 0]
    return Model(
        questions=vectors[asks],
        asked=subject[asks],
        tongues=language[asks],
        directions=by_subject,
        own=unit_vectors(of_own),
        usual=stated[:: max(1, len(stated) // _USUAL)].copy(),  # a view would keep all of them
    )


def directions(vectors: Array, labels: NDArray[np.int64], count: int, weights: Array) -> Array:
    """Return the directions in which the vectors of each label differ from all others.

    Parameters
    ----------
    vectors
        (N, dimensions).
    labels
        Label of each vector, 0 to ``count`` - 1, or another number for none; (N,).
    weights
        How much each vector counts in each of R regressions; (R, N).

    Returns
    -------
    Array
        (R, count, dimensions): the weights of ridge regressions on the labels.

    Examples
    --------
    >>> vectors = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    >>> directions(vectors, np.array([0, 1]), 2, np.ones((1, 2))).round(2).tolist()
    [[[0.07, -0.07, 0.0], [-0.07, 0.07, 0.0]]]
    """
    size = vectors.shape[1]
    wanted = labels[:, None] == np.arange(count)
    rows = np.concatenate([vectors, wanted, np.ones((len(vectors), 1))], axis=1)
    # The products of the vectors take longest: they are made once for all that count alike.
    by_group, group = np.unique(weights, axis=1, return_inverse=True)
    alike = [rows[group.ravel() == number] for number in range(by_group.shape[1])]
    products = np.array([some.T @ some for some in alike])
    found = []
    for each in by_group:
        sums = np.tensordot(each, products, 1)
        centred = sums - np.outer(sums[-1], sums[-1]) / sums[-1, -1]
        inner = centred[:size, :size] + _PENALTY * np.eye(size)
        found.append(np.linalg.solve(inner, centred[:size, size:-1]).T)
    return np.array(found)
