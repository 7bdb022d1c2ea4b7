"""The subjects of facts: their examples, and the vector to search with, by hand-made cosines."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from memoria.embed import DEFAULT_ONNX_MODEL
from memoria.recall.asides import Asides
from memoria.recall.asides import examples as small_talk
from memoria.recall.examples import Examples
from memoria.recall.subjects import VECTORS, Subjects, directions, examples, subjects


class ByFirstLine:
    """Places the statements of each subject, and its questions, on two axes of its own."""

    name = "axes"

    def __init__(self) -> None:
        self.axis = {
            text: 2 * row + text.endswith("?")
            for row, of_subject in enumerate(subjects())
            for text in of_subject
        }
        self.dimensions = 2 * len(subjects()) + 1
        self.calls = 0

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.calls += 1
        rows = np.eye(self.dimensions)
        return [rows[self.axis.get(text, self.dimensions - 1)].tolist() for text in texts]

    async def embed_query(self, text: str) -> Sequence[float]:
        raise AssertionError(text)


def soon() -> float:
    return asyncio.get_running_loop().time() + 5.0


def test_each_subject_has_questions_and_statements_and_no_text_comes_twice() -> None:
    assert len(subjects()) > 40
    for of_subject in subjects():
        asks = [text.endswith("?") for text in of_subject]
        assert any(asks), of_subject
        assert not all(asks), of_subject
    assert len({*examples()}) == len(examples())
    assert all(text == text.strip() != "" for text in examples())
    assert np.load(VECTORS).shape == (len(examples()), 384)


async def test_the_probe_is_near_to_statements_of_the_subject_and_to_the_question() -> None:
    embedder = ByFirstLine()
    found = Subjects(Asides(embedder).examples)
    for row in (0, 7):
        question = np.eye(embedder.dimensions)[2 * row + 1]
        probe = await found.probe(question.tolist(), aside=0.3, until=soon(), notes=[])
        assert probe is not None
        assert np.linalg.norm(probe.vector) == pytest.approx(1.0)
        assert probe.share == 1.0
        # The direction has length 1, and the question adds a quarter of its own.
        by_size = np.argsort(probe.vector)[::-1]
        assert by_size[:2].tolist() == [2 * row, 2 * row + 1]
        assert probe.vector[2 * row + 1] / probe.vector[2 * row] == pytest.approx(0.25, abs=0.02)
    assert embedder.calls == -(-len(examples()) // 64) + -(-len(small_talk()) // 64)


async def test_a_question_hardly_nearer_to_questions_than_to_small_talk_has_no_probe() -> None:
    embedder = ByFirstLine()
    found = Subjects(Asides(embedder).examples)
    question = np.eye(embedder.dimensions)[1].tolist()  # its cosine with an example is 1
    assert await found.probe(question, aside=0.96, until=soon(), notes=[]) is None
    half = await found.probe(question, aside=0.915, until=soon(), notes=[])
    assert half is not None
    assert half.share == pytest.approx(0.5)


async def test_without_vectors_of_the_examples_there_is_no_probe_but_a_note() -> None:
    class Failing(ByFirstLine):
        async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
            raise ConnectionError(f"gone before {texts[0]!r}")

    notes: list[str] = []
    found = Subjects(Asides(Failing()).examples)
    assert await found.probe([1.0], aside=0.3, until=soon(), notes=notes) is None
    assert notes == [
        "examples of facts are not embedded (ConnectionError): statements in other words may be "
        "missing"
    ]


async def test_the_default_embedder_has_the_vectors_already() -> None:
    embedder = ByFirstLine()
    embedder.name, embedder.dimensions = DEFAULT_ONNX_MODEL, 384
    told = Examples(embedder, examples(), VECTORS, name="facts")
    vectors = await told.vectors(soon())
    assert vectors is not None
    assert embedder.calls == 0
    found = Subjects(Asides(embedder).examples)
    home = vectors[examples().index("Where do I live?")]
    probe = await found.probe(home.tolist(), aside=0.3, until=soon(), notes=[])
    assert probe is not None
    cosines = dict(zip(examples(), (vectors @ probe.vector).tolist(), strict=True))
    assert cosines["We signed the lease for the apartment on Friday."] > 0.3
    assert cosines["I'm allergic to nuts."] < 0.1


def test_a_direction_is_where_vectors_of_one_label_differ_from_the_others() -> None:
    vectors = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    found = directions(vectors, np.array([0, 1, -1]), 2)
    assert found[0] @ vectors[0] > found[0] @ vectors[1]
    assert found[:, 2] == pytest.approx(0.0)
    # A label that no vector has gets no direction.
    assert directions(vectors, np.array([0, 0, -1]), 2)[1] == pytest.approx(0.0)
