"""The subjects of facts: their examples, and the vector to search with, by hand-made cosines."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import memoria.recall.examples
import memoria.recall.probing
from memoria.embed import DEFAULT_ONNX_MODEL
from memoria.recall.asides import Asides, spread
from memoria.recall.asides import examples as small_talk
from memoria.recall.examples import Array, KeptVectors, unit_vectors
from memoria.recall.probing import Subjects, embed_examples
from memoria.recall.ranking import DEFAULT_SPREAD, Likeness
from memoria.recall.subjects import (
    FITTED,
    Example,
    Model,
    Probe,
    asks_alone,
    directions,
    edition,
    fit,
    parts,
    subjects,
)

# Calls that embed small talk, a few examples, and the others, in batches of 64.
CALLS = [-(-len(some) // 64) for some in (small_talk(), *parts())]


class ByFirstLine:
    """Places one's own statements on each subject, and its questions, on two axes of its own."""

    name = "axes"

    def __init__(self) -> None:
        self.axis = {one.text: 2 * one.subject + one.asks for one in subjects() if one.own}
        self.dimensions = 2 * len({one.subject for one in subjects()}) + 1
        self.calls = 0

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.calls += 1
        rows = np.eye(self.dimensions)
        return [rows[self.axis.get(text, self.dimensions - 1)].tolist() for text in texts]

    async def embed_query(self, text: str) -> Sequence[float]:
        raise AssertionError(text)


def like(aside: float) -> Likeness:
    """Return how close a message is to small talk, by an embedder like the default one."""
    return Likeness(aside=aside, leaning=aside, spread=DEFAULT_SPREAD, unrelated=aside)


async def until(done: Callable[[], bool]) -> None:
    """Wait for work in the background, which no question waits for."""
    async with asyncio.timeout(120):
        while not done():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)


def in_time(within_s: float = 60.0) -> float:
    """Return a limit of the loop's clock; by default one that a busy machine keeps, too."""
    return asyncio.get_running_loop().time() + within_s


def test_each_subject_has_questions_and_statements_and_no_text_comes_twice() -> None:
    told = subjects()
    count = len({one.subject for one in told})
    assert count > 40
    for some in (told, parts()[0]):
        for number in range(count):
            of_subject = [one for one in some if one.subject == number]
            assert any(one.asks for one in of_subject), of_subject[0]
            assert any(not one.own for one in of_subject), of_subject[0]
            assert any(one.own and not one.asks for one in of_subject), of_subject[0]
    assert {one.language for one in told} == {"de", "en", "es", "fr"}
    for language in ("de", "es", "fr"):
        assert len({one.subject for one in told if one.language == language}) > 30
    assert not any(one.text.startswith(("- ", "[")) for one in told)
    assert len({one.text for one in told}) == len(told)
    assert all(one.text == one.text.strip() != "" for one in told)


async def test_the_probe_is_near_to_statements_of_the_subject_and_to_the_question(
    tmp_path: Path,
) -> None:
    embedder = ByFirstLine()
    found = Subjects(Asides(embedder, tmp_path).examples)
    for row in (0, 7):
        question = np.eye(embedder.dimensions)[2 * row + 1]
        probe = await found.probe(question.tolist(), like=like(0.3), until=in_time(), notes=[])
        assert probe is not None
        assert np.linalg.norm(probe.vector) == pytest.approx(1.0)
        assert probe.share == 1.0
        # The direction has length 1; the question adds a quarter of its own, and the direction of
        # the user's own facts as much over all statements.
        by_size = np.argsort(probe.vector)[::-1]
        assert by_size[:2].tolist() == [2 * row, 2 * row + 1]
        assert probe.vector[2 * row + 1] / probe.vector[2 * row] == pytest.approx(0.27, abs=0.05)


async def test_a_question_hardly_nearer_to_questions_than_to_small_talk_has_no_probe(
    tmp_path: Path,
) -> None:
    embedder = ByFirstLine()
    found = Subjects(Asides(embedder, tmp_path).examples)
    question = np.eye(embedder.dimensions)[1].tolist()  # its cosine with an example is 1
    assert await found.probe(question, like=like(0.96), until=in_time(), notes=[]) is None
    half = await found.probe(question, like=like(0.915), until=in_time(), notes=[])
    assert half is not None
    assert half.share == pytest.approx(0.5)


def test_an_embedder_that_places_all_texts_close_together_finds_the_same_subjects() -> None:
    told = [one for one in subjects() if one.subject < 8]
    rng = np.random.default_rng(0)
    of_subject = rng.normal(size=(8, 24))
    vectors = of_subject[[one.subject for one in told]] + rng.normal(size=(len(told), 24))
    # Far from the facts, and from each other as the default embedder places small talk.
    talk = np.eye(24)[0] + 0.22 * rng.normal(size=(400, 24))
    told_apart, talk_apart = unit_vectors(vectors), unit_vectors(talk)
    question = told_apart[[one.asks for one in told]][0] + 0.1 * rng.normal(size=24)

    def closer(some: Array, share: float) -> Array:
        """Give all vectors one component in common: what their cosines lack to 1 shrinks."""
        common = np.full((len(some), 1), (1 - share) ** 0.5)
        return np.concatenate([share**0.5 * unit_vectors(some), common], axis=1)

    probes = []
    for share in (1.0, 0.3, 0.05):
        vector, small_talk = closer(question[None], share)[0], closer(talk_apart, share)
        of_talk = float(np.sort(small_talk @ vector)[-4:-1].mean())
        known = Likeness(
            aside=of_talk, leaning=of_talk, spread=spread(small_talk), unrelated=of_talk
        )
        probe = fit(told, closer(told_apart, share), small_talk).probe(vector, known)
        assert probe is not None
        found = np.array(probe.vector[:24])
        probes.append((probe.share, found / np.linalg.norm(found)))
    for number, direction in probes[1:]:
        assert number == pytest.approx(probes[0][0])
        assert float(direction @ probes[0][1]) > 0.9  # the penalty of the regressions stays


async def test_without_vectors_of_the_examples_there_is_no_probe_but_a_note(tmp_path: Path) -> None:
    class Failing(ByFirstLine):
        async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
            raise ConnectionError(f"gone before {texts[0]!r}")

    notes: list[str] = []
    found = Subjects(Asides(Failing(), tmp_path).examples)
    assert await found.probe([1.0], like=like(0.3), until=in_time(), notes=notes) is None
    assert notes == [
        "examples of facts are not embedded (ConnectionError): statements in other words may be "
        "missing"
    ]


async def test_a_model_that_takes_long_is_made_once_and_used_by_the_next_question(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    embedder = ByFirstLine()
    embedder.dimensions += 1  # models of earlier tests may be made meanwhile
    release, made = threading.Event(), list[int]()

    def slowly(told: Sequence[Example], vectors: Array, small_talk: Array) -> Model:
        if vectors.shape[1] == embedder.dimensions:
            made.append(len(told))
            assert release.wait(60)
        return fit(told, vectors, small_talk)

    monkeypatch.setattr(memoria.recall.probing, "fit", slowly)
    found = Subjects(Asides(embedder, tmp_path).examples)
    question, notes = np.eye(embedder.dimensions)[1].tolist(), list[str]()
    assert await found.probe(question, like=like(0.3), until=in_time(0.5), notes=notes) is None
    assert len(notes) == 1
    async with asyncio.timeout(30):  # only the first question waits, for a minute at most
        for _ in range(3):
            assert await found.probe(question, like=like(0.3), until=in_time(), notes=[]) is None
    release.set()
    assert await until_it_differs(found, None, question) is not None
    few, others = parts()
    await until(lambda: len(made) == 2)
    assert made == [len(few), len(few) + len(others)]


QUESTION = np.eye(ByFirstLine().dimensions)[1].tolist()


async def ask(of: Subjects, question: Sequence[float] = QUESTION) -> Probe | None:
    return await of.probe(question, like=like(0.3), until=in_time(), notes=[])


async def until_it_differs(
    of: Subjects, earlier: Probe | None, question: Sequence[float] = QUESTION
) -> Probe | None:
    """Ask until the model is another one."""
    async with asyncio.timeout(120):
        while (found := await ask(of, question)) == earlier:  # noqa: ASYNC110 - as in `until`
            await asyncio.sleep(0.01)
    return found


async def test_the_next_process_has_the_model_of_all_examples_at_once(tmp_path: Path) -> None:
    embedder, again = ByFirstLine(), ByFirstLine()
    found = Subjects(Asides(embedder, tmp_path).examples)
    by_all = await until_it_differs(found, await ask(found))
    await until(KeptVectors(embedder, tmp_path).file(edition()).exists)
    kept = await ask(Subjects(Asides(again, tmp_path).examples))
    assert by_all is not None
    assert kept is not None
    assert kept.vector == pytest.approx(by_all.vector, abs=1e-3)
    assert kept.usual == pytest.approx(by_all.usual, abs=1e-3)
    assert (embedder.calls, again.calls) == (sum(CALLS), 1)


async def test_examples_that_were_embedded_before_a_measurement_are_there_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORIA_HOME", str(tmp_path))
    embedder, again = ByFirstLine(), ByFirstLine()
    await embed_examples(embedder)
    known = Asides(again)
    assert await known.make()
    assert await Subjects(known.examples).embed_few() is not None
    assert embedder.calls > CALLS[0] + CALLS[1]
    assert again.calls == 1  # three texts: do they still have their kept vectors?


async def test_if_the_other_examples_fail_a_later_question_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FailingOnce(ByFirstLine):
        async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
            if self.calls == CALLS[0] + CALLS[1] + 3:
                self.calls += 1
                raise ConnectionError("gone")
            return await super().embed_documents(texts)

    monkeypatch.setattr(memoria.recall.examples, "_PAUSE_S", 0.0)
    embedder = FailingOnce()
    found = Subjects(Asides(embedder, tmp_path).examples)
    assert await until_it_differs(found, await ask(found)) is not None
    assert embedder.calls == sum(CALLS) + 1


async def test_if_no_model_of_all_examples_can_be_made_that_of_a_few_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "bad").mkdir()
    embedder = ByFirstLine()
    embedder.dimensions += 2

    def too_large(told: Sequence[Example], vectors: Array, small_talk: Array) -> Model:
        if vectors.shape == (len(subjects()), embedder.dimensions):
            raise MemoryError
        return fit(told, vectors, small_talk)

    monkeypatch.setattr(memoria.recall.probing, "fit", too_large)
    found = Subjects(Asides(embedder, tmp_path / "bad").examples)
    question = [*QUESTION, 0.0, 0.0]
    for _ in range(3):
        probe = await found.probe(question, like=like(0.3), until=in_time(), notes=[])
        assert probe is not None
    await until(lambda: "the model of all facts can't be made (MemoryError)" in caplog.text)
    assert await found.probe(question, like=like(0.3), until=in_time(), notes=[]) == probe


async def test_a_damaged_model_is_made_again(tmp_path: Path) -> None:
    kept = KeptVectors(ByFirstLine(), tmp_path)
    kept.write_file(b"PK\x03\x04 not a model", edition())
    first = Subjects(Asides(ByFirstLine(), tmp_path).examples)
    assert await ask(first) is not None
    second = Subjects(Asides(ByFirstLine(), tmp_path).examples)
    assert await ask(second) is not None


def test_the_shipped_model_is_that_of_the_examples() -> None:
    with np.load(FITTED) as kept:
        assert str(kept["edition"]) == edition(), "run scripts/embed_examples.py"


def test_other_embedders_first_embed_a_few_examples_of_each_kind() -> None:
    few, others = parts()
    assert sorted((*few, *others), key=repr) == sorted(subjects(), key=repr)
    kinds = Counter((one.subject, one.language, one.asks, one.own) for one in few)
    assert max(kinds.values()) == 3
    asked = {(one.subject, one.language) for one in few if one.asks}
    assert asked == {(one.subject, one.language) for one in subjects() if one.asks}
    assert len(few) < 2_000


async def test_the_default_embedder_has_its_model_already(tmp_path: Path) -> None:
    embedder = ByFirstLine()
    embedder.name, embedder.dimensions = DEFAULT_ONNX_MODEL, 384
    model = Model.read(FITTED)
    told = subjects()
    questions = [one for one in told if one.asks]
    stated = [one for one in told if not one.asks]
    usual = stated[:: len(stated) // 500]
    assert len(usual) == len(model.usual) >= 500
    found = Subjects(Asides(embedder, tmp_path).examples)
    of_own, of_others, of_another = list[float](), list[float](), list[float]()
    for row, question in zip(model.questions, questions, strict=True):
        probe = await found.probe(row.tolist(), like=like(0.3), until=in_time(), notes=[])
        assert probe is not None
        cosines = model.usual @ probe.vector
        for one, cosine in zip(usual, cosines.tolist(), strict=True):
            same = one.subject == question.subject
            (of_another if not same else of_own if one.own else of_others).append(cosine)
    assert embedder.calls == 0
    assert np.mean(of_own) > np.mean(of_others) + 0.06
    assert np.mean(of_others) > np.mean(of_another) + 0.05


async def test_all_retrievers_share_the_model_of_the_package(tmp_path: Path) -> None:
    embedder = ByFirstLine()
    embedder.name, embedder.dimensions = DEFAULT_ONNX_MODEL, 384
    models = []
    for _ in range(2):
        found = Subjects(Asides(embedder, tmp_path).examples)
        question = Model.read(FITTED).questions[0].tolist()
        assert await found.probe(question, like=like(0.3), until=in_time(), notes=[]) is not None
        models.append(found._model)
    assert models[0] is models[1]


async def test_a_model_that_can_not_be_read_is_named_and_costs_the_probe_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = ByFirstLine()
    embedder.name, embedder.dimensions = DEFAULT_ONNX_MODEL, 384
    monkeypatch.setattr(memoria.recall.probing, "FITTED", tmp_path / "missing.npz")
    notes: list[str] = []
    found = Subjects(Asides(embedder, tmp_path).examples)
    assert await found.probe([1.0], like=like(0.3), until=in_time(), notes=notes) is None
    assert "(FileNotFoundError)" in notes[0]
    assert "the model of facts can't be made (FileNotFoundError)" in caplog.text


def test_a_written_model_is_read_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    told = [one for one in subjects() if one.subject < 2]
    told_vectors, talk = rng.normal(size=(len(told), 8)), rng.normal(size=(5, 8))
    model = fit(told, told_vectors, talk)
    model.write(tmp_path / "model.npz")
    read = Model.read(tmp_path / "model.npz")
    for each in fields(model):
        written = getattr(model, each.name)
        assert getattr(read, each.name) == pytest.approx(written, abs=2e-3), each.name
    assert len(model.usual) == sum(not one.asks for one in told)  # fewer than 500: all of them


async def test_the_probe_is_that_of_the_language_of_the_question(tmp_path: Path) -> None:
    # Two axes for each pair of language and subject: one's own statements, and questions.
    pairs = sorted({(one.language, one.subject) for one in subjects()})

    class ByLanguage(ByFirstLine):
        def __init__(self) -> None:
            super().__init__()
            self.dimensions = 2 * len(pairs) + 1
            self.axis = {
                one.text: 2 * pairs.index((one.language, one.subject)) + one.asks
                for one in subjects()
                if one.own
            }

    embedder = ByLanguage()
    german = np.eye(embedder.dimensions)[2 * pairs.index(("de", 0)) + 1]
    probe = await Subjects(Asides(embedder, tmp_path).examples).probe(
        german.tolist(), like=like(0.3), until=in_time(), notes=[]
    )
    assert probe is not None
    near = {of: probe.vector[2 * pairs.index((of, 0))] for of in ("de", "en", "es", "fr")}
    assert near["de"] > 1.5 * max(value for of, value in near.items() if of != "de")


@pytest.mark.parametrize(
    ("message", "alone"),
    [
        ("Where do I live?", True),
        ("Hi! Thanks a lot. Who is my boss?", True),
        ("Wo wohne ich?\n", True),
        ("The packing list is sorted.\nWhat is the next step for the trip?", False),
        ("I am filling in a form. Where do I live?", False),
    ],
)
def test_a_question_is_alone_if_only_courtesies_stand_around_it(message: str, alone: bool) -> None:
    assert asks_alone(message) is alone


def test_a_vector_of_more_weight_counts_as_several() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.1]])
    labels = np.array([0, 1, 1])
    twice = directions(vectors[[0, 1, 2, 2]], labels[[0, 1, 2, 2]], 2, np.ones((1, 4)))
    weights = np.array([[1.0, 1.0, 2.0], [1.0, 1.0, 1.0]])
    found = directions(vectors, labels, 2, weights)
    assert found[:1] == pytest.approx(twice)
    assert found[1:] == pytest.approx(directions(vectors, labels, 2, np.ones((1, 3))))


def test_a_direction_is_where_vectors_of_one_label_differ_from_the_others() -> None:
    vectors = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    [found] = directions(vectors, np.array([0, 1, -1]), 2, np.ones((1, 3)))
    assert found[0] @ vectors[0] > found[0] @ vectors[1]
    assert found[:, 2] == pytest.approx(0.0)
    # A label that no vector has gets no direction.
    [found] = directions(vectors, np.array([0, 0, -1]), 2, np.ones((1, 3)))
    assert found[1] == pytest.approx(0.0)
