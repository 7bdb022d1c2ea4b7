"""An evaluation from end to end: two small datasets, the real engine, the real store."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import numpy as np
import pytest

from memoria._support.progress import ProgressCallback
from memoria.cli.datasets import EmbeddedDataset, OwnConnection, on_dataset
from memoria.embed import CallableEmbedder
from memoria.errors import ConfigError, DimensionError
from memoria.evaluation import (
    METHODS,
    Dataset,
    EvaluationConfig,
    Run,
    ask_all,
    load_dataset,
    make_report,
    prepare,
    read_dataset,
    run_lines,
    supplied_embedder,
)
from memoria.evaluation.corpus import Corpus
from memoria.evaluation.engine import ranking
from memoria.graph.stats import scope_stats
from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import STRATEGIES, LeakyIntegrateAndFire
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.for_each import for_each
from tests.integration.alone import driver, store, target
from tests.integration.cli.test_commands import Call, call, secret

__all__ = ["call", "driver", "secret", "store", "target"]  # fixtures

DATA = Path(__file__).parents[2] / "data"
PUBLIC = Path(__file__).parents[4] / "shared" / "data"


def vector(text: str) -> list[float]:
    """A vector by the words of a text: each adds one at a place of its own."""
    found = np.zeros(DIMENSIONS)
    for word in re.findall(r"\w+", text.lower()):
        found[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    return [float(number) for number in found / (np.linalg.norm(found) or 1.0)]


EMBED = CallableEmbedder(
    lambda texts: [vector(text) for text in texts], dimensions=DIMENSIONS, name=EMBEDDER
)


@pytest.fixture
def copied(tmp_path: Path, scope: str) -> Path:
    """The small dataset in a folder of the test's own, hence in scopes of its own."""
    return Path(shutil.copytree(DATA / "harbour", tmp_path / scope))


@pytest.fixture
def where(target: Target, secret: Path, store: Store) -> list[str]:
    """Options that name the server under test."""
    assert store
    return ["--uri", target.uri, "--password-file", str(secret), "--embedder", "none"]


@pytest.fixture
def harbour(copied: Path) -> Dataset:
    return read_dataset(copied)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A dataset that was asked with every method, and how."""

    dataset: Dataset
    folder: Path
    config: EvaluationConfig
    runs: tuple[Run, ...]


@pytest.fixture(scope="module")
async def harbour_asked(store: Store, tmp_path_factory: pytest.TempPathFactory) -> list[Asked]:
    """The same run twice in a row, as no other test may write what changes the scores between."""
    folder = Path(shutil.copytree(DATA / "harbour", tmp_path_factory.mktemp("data") / uuid4().hex))
    dataset, config = read_dataset(folder), EvaluationConfig(methods=METHODS, warm_up=0)
    return [
        Asked(
            dataset=dataset,
            folder=folder,
            config=config,
            runs=await measured(store, dataset, config),
        )
        for _ in range(2)
    ]


@pytest.fixture(scope="module")
async def talks_asked(store: Store) -> Asked:
    folder = DATA / "talks"
    dataset, config = read_dataset(folder), EvaluationConfig(methods=METHODS, warm_up=0)
    runs = await measured(store, dataset, config)
    return Asked(dataset=dataset, folder=folder, config=config, runs=runs)


async def measured(store: Store, dataset: Dataset, config: EvaluationConfig) -> tuple[Run, ...]:
    await prepare(store, EMBED)
    await load_dataset(store, dataset, embedder=EMBED)
    return await ask_all(store, dataset, embedder=EMBED, config=config)


async def test_a_load_writes_all_and_a_second_one_nothing(store: Store, harbour: Dataset) -> None:
    [scope] = harbour.memories
    await prepare(store, EMBED)
    seen: list[tuple[str, int, int | None]] = []
    first = await load_dataset(
        store, harbour, embedder=EMBED, progress=lambda *state: seen.append(state)
    )
    assert (first.written, first.there) == ((scope,), ())
    assert {(label, done) for label, done, total in seen if done == total} == {
        ("items", 18),
        ("other nodes", 12),
        ("edges", 54),
    }
    found = await scope_stats(store, scope)
    assert (found.memories, found.embedded, found.edges) == (30, 18, 54)
    assert found.kinds == {"Passage": 18, "Entity": 12}
    again = await load_dataset(store, harbour, embedder=EMBED)
    assert (again.written, again.there) == ((), (scope,))


async def test_an_interrupted_load_is_completed(store: Store, harbour: Dataset) -> None:
    [scope] = harbour.memories
    half = replace(
        harbour,
        memories={scope: harbour.memories[scope][:10]},
        relations={scope: ()},
    )
    await prepare(store, None)
    await load_dataset(store, half, embedder=None)
    report = await load_dataset(store, harbour, embedder=EMBED)
    assert report.written == (scope,)
    found = await scope_stats(store, scope)
    assert (found.memories, found.embedded, found.edges) == (30, 18, 54)


def test_every_method_finds_what_shares_its_words(harbour_asked: list[Asked]) -> None:
    asked = harbour_asked[0]
    memories = [memory for found in asked.dataset.memories.values() for memory in found]
    items = {memory.id for memory in memories if memory.kind == "Passage"}
    for run in asked.runs:
        assert list(run.rankings) == [f"q{i}" for i in range(8)]
        for ranked in run.rankings.values():
            assert len(set(ranked)) == len(ranked)
            assert items.issuperset(ranked)
    report = make_report(asked.dataset, asked.runs, asked.config)
    for method in report.methods:
        assert method.rows[-1].figures["recall@10"].mean > 0.8, method.method
        assert 0 < method.p50_s <= method.p95_s
    baselines = ["dense", "bm25", "rrf", "ppr"]
    assert [(each.method, each.baseline) for each in report.differences] == [
        (strategy, baseline) for strategy in STRATEGIES for baseline in baselines
    ]


async def test_dense_ranks_by_exact_cosine(store: Store, harbour: Dataset) -> None:
    [run] = await measured(store, harbour, EvaluationConfig(methods=("dense",)))
    texts = {m.id: m.text for found in harbour.memories.values() for m in found}
    for question in harbour.questions:
        asked = np.array(vector(question.text))
        # The store holds vectors as they were given; ties are broken by id.
        cosines = {
            id_: round(float(asked @ np.array(vector(text))), 10)
            for id_, text in texts.items()
            if id_.startswith("p")
        }
        expected = sorted(cosines, key=lambda id_: (-cosines[id_], id_))
        assert list(run.rankings[question.id]) == expected


async def test_transfer_is_the_engines_own_order(store: Store, harbour: Dataset) -> None:
    [run] = await measured(store, harbour, EvaluationConfig(limit=1))
    question = harbour.questions[0]
    retriever = GraphRetriever(store.driver, scope=question.scope, embedder=EMBED)
    recall = await retriever.recall(question.text, kinds=["Passage"])
    ranked = [entry.memory.id for entry in recall.ranked if entry.memory.kind == "Passage"]
    hits = [hit.seed_id for hit in recall.hits if hit.seed_id not in ranked]
    assert list(run.rankings[question.id]) == [*ranked, *hits]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneHop(LeakyIntegrateAndFire):
    """A strategy that is not in the registry."""

    name: ClassVar[str] = "one-hop"

    max_hops: int = 1


async def test_a_strategy_of_ones_own_is_measured_by_its_name(
    store: Store, harbour: Dataset
) -> None:
    own = RetrieverConfig(strategy=OneHop())
    both = EvaluationConfig(methods=("one-hop", "bm25"), limit=1, retriever=own)
    mine, words = await measured(store, harbour, both)
    assert (mine.method, words.method) == ("one-hop", "bm25")
    question = harbour.questions[0]
    retriever = GraphRetriever(store, scope=question.scope, embedder=EMBED, config=own)
    recall = await retriever.recall(question.text, kinds=["Passage"])
    assert recall.trace.config["strategy"]["name"] == "one-hop"
    assert list(mine.rankings[question.id]) == ranking(recall, ["Passage"])
    report = make_report(harbour, (mine, words), both)
    assert [(each.method, each.baseline) for each in report.differences] == [("one-hop", "bm25")]


def test_conversations_are_asked_apart(talks_asked: Asked) -> None:
    for run in talks_asked.runs:
        assert len(run.rankings) == len(talks_asked.dataset.questions)
        for id_, ranked in run.rankings.items():
            conversation = id_.partition(":")[0]
            assert ranked
            assert {name.partition(":")[0] for name in ranked} == {conversation}


def test_two_runs_are_equal_to_the_byte(harbour_asked: list[Asked]) -> None:
    first, second = harbour_asked
    for one, other in zip(first.runs, second.runs, strict=True):
        assert list(run_lines(one)) == list(run_lines(other))


async def test_corpus_is_what_the_store_holds(store: Store, harbour: Dataset) -> None:
    await measured(store, harbour, EvaluationConfig(methods=("bm25",), limit=1))
    [scope] = harbour.memories
    corpus = Corpus(store, harbour.item_kinds)
    items, graph = await corpus.items(scope), await corpus.graph(scope)
    assert items.ids == tuple(f"p{i:02d}" for i in range(18))
    assert items.texts[0].startswith("Skarvik\nSkarvik is")
    assert items.vectors[3] @ np.array(vector(items.texts[3])) == pytest.approx(1.0)
    assert len(graph.ids) == 30
    assert len(graph.sources) == 2 * 54
    assert await corpus.items("nowhere") == await corpus.items("nowhere")


async def test_words_alone_find_without_an_embedder(store: Store, harbour: Dataset) -> None:
    config = EvaluationConfig(methods=("transfer", "bm25"))
    await prepare(store, None)
    await load_dataset(store, harbour, embedder=None)
    runs = await ask_all(store, harbour, embedder=None, config=config)
    assert all(all(run.rankings.values()) for run in runs)
    assert runs[0].notes["no embedder: searched by words only"] == 8
    with pytest.raises(ConfigError, match="dense needs vectors"):
        await ask_all(store, harbour, embedder=None, config=replace(config, methods=("dense",)))


def test_command_prints_tables_and_writes_runs(
    call: Call, copied: Path, where: list[str], tmp_path: Path
) -> None:
    base = ["evaluate", str(copied), "--method", "transfer", "--method", "bm25", *where]
    file = tmp_path / "run.jsonl"
    done = call(*base, "--k", "1", "--k", "3", "--run-out", str(file))
    assert done.code == 0, done.err
    assert done.err == ""
    assert "8 questions, 18 ranked memories, 30 memories in all, 54 edges, 1 scope" in done.out
    assert re.search(r"^bridge +6 +recall +\d+\.\d \(", done.out, re.MULTILINE)
    assert re.search(r"^transfer - bm25 +recall +[+-]\d", done.out, re.MULTILINE)
    assert "time of an answer" in done.out
    written = [tmp_path / f"run.{name}.jsonl" for name in ("transfer", "bm25")]
    first = [each.read_bytes() for each in written]
    assert call(*base, "--run-out", str(file)).code == 0
    assert [each.read_bytes() for each in written] == first
    assert not file.exists()
    assert len(first[0].splitlines()) == 8
    assert json.loads(first[0].splitlines()[0])["id"] == "q0"


async def test_one_slow_query_does_not_end_a_long_run(
    copied: Path, target: Target, secret: Path, store: Store
) -> None:
    assert store
    subject = EmbeddedDataset(dataset=read_dataset(copied), embedder=None, use_supplied=False)

    async def limit_s(opened: Store, _: ProgressCallback) -> float:
        return opened.config.query_timeout_s

    asked = OwnConnection(uri=target.uri, user="neo4j", password_file=secret)
    limit = await on_dataset(subject, asked, limit_s)
    assert limit >= 2 * EvaluationConfig().retriever.deadline_s


def test_command_as_json_has_every_figure(call: Call, copied: Path, where: list[str]) -> None:
    options = ["--exclude-category", "single", "--limit", "5", "--k", "2", "--json"]
    done = call("evaluate", str(copied), "--method", "bm25", *options, *where)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["questions"], found["ks"], found["excluded"]) == (5, [2], ["single"])
    [method] = found["methods"]
    assert method["rows"][-1]["category"] == "all but single"
    assert set(method["rows"][0]["figures"]) == {"recall@2", "full@2"}
    assert set(method["rows"][0]["figures"]["recall@2"]) == {"mean", "low", "high"}


@for_each(
    "options, code, named",
    [
        (["--method", "dense", "--embedder", "none"], 1, "dense needs vectors"),
        (["--method", "best", "--embedder", "none"], 1, "got 'best'"),
        (["--split", "test"], 1, "splits with questions: dev"),
        (["--use-vectors"], 1, "lacks the emb_nodes file"),
        (["--use-vectors", "--embedder", "none"], 2, "--embedder"),
        (["--exclude-category", "hard"], 1, "there are: bridge, single"),
        (["--run-out", "nowhere/run.jsonl"], 2, "--run-out"),
        (["--run-out", "-"], 2, "--run-out"),
        (["--k", "0"], 1, "ks"),
        (["--limit", "0"], 2, "--limit"),
    ],
)
def test_command_refuses_before_it_starts_a_server(
    call: Call, options: list[str], code: int, named: str
) -> None:
    done = call("evaluate", str(DATA / "harbour"), *options)
    assert done.code == code
    assert done.out == ""
    assert named in done.err


def test_command_says_which_line_is_wrong_and_no_more(call: Call, copied: Path) -> None:
    with (copied / "nodes.jsonl").open("a") as file:
        file.write('{"id": "z"}\n')
    done = call("evaluate", str(copied), "--embedder", "none")
    assert done.code == 1
    assert (
        done.err == f"memoria: {copied.resolve()}/nodes.jsonl, line 31: kind is missing or blank\n"
    )


def with_vectors(folder: Path) -> Path:
    """Supply vectors with the dataset, rounded as the format has them."""
    rows = [json.loads(line) for line in (folder / "nodes.jsonl").read_text().splitlines()]
    items = [vector(f"{row['title']}\n{row['text']}") for row in rows if "text" in row]
    lines = (folder / "questions.dev.jsonl").read_text().splitlines()
    asked = [vector(json.loads(line)["question"]) for line in lines]
    np.save(folder / "emb_nodes.f16.npy", np.array(items, dtype=np.float16))
    np.save(folder / "emb_questions.dev.f16.npy", np.array(asked, dtype=np.float16))
    return folder


async def test_supplied_vectors_need_a_database_of_their_own(store: Store, copied: Path) -> None:
    dataset = read_dataset(with_vectors(copied))
    with pytest.raises(DimensionError, match="supplied-vectors-384d"):
        await prepare(store, supplied_embedder(dataset))
    # With the name that the database knows they are taken.
    embedder = supplied_embedder(dataset, name=EMBEDDER)
    await prepare(store, embedder)
    await load_dataset(store, dataset, embedder=embedder, use_supplied=True)
    [scope] = dataset.memories
    assert (await scope_stats(store, scope)).embedded == 18
    [run] = await ask_all(
        store, dataset, embedder=embedder, config=EvaluationConfig(methods=("dense",))
    )
    assert run.rankings["q0"][0] in {"p01", "p02"}


def test_command_starts_a_server_of_its_own(call: Call, copied: Path) -> None:
    with_vectors(copied)
    options = ["--use-vectors", "--json", "--limit", "2", "--method", "rrf"]
    done = call("evaluate", str(copied), *options)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["embedder"] == "supplied-vectors-384d"
    [method] = found["methods"]
    assert method["rows"][-1]["figures"]["recall@10"]["mean"] > 0.8


@pytest.mark.skipif(
    not (PUBLIC / "score.py").is_file(), reason="2026-11-21: the public data are not here"
)
def test_figures_are_those_of_the_public_scorer(
    harbour_asked: list[Asked], talks_asked: Asked
) -> None:
    scorer = runpy.run_path(str(PUBLIC / "score.py"))
    for asked in (harbour_asked[0], talks_asked):
        report = make_report(asked.dataset, asked.runs, asked.config)
        questions = scorer["read"](asked.folder / "questions.dev.jsonl")
        for run, method in zip(asked.runs, report.methods, strict=True):
            answered = [json.loads(line) for line in run_lines(run)]
            expected = scorer["score"](questions, answered, asked.config.ks)
            for row in method.rows:
                for name, figure in row.figures.items():
                    assert figure.mean == pytest.approx(expected[row.category][name], abs=1e-9)


@pytest.mark.skipif(
    not (PUBLIC / "openflights").is_dir(), reason="2026-11-21: the public data are not here"
)
@pytest.mark.parametrize(
    ("name", "memories", "kinds"),
    [
        ("musique-openie", 1_890 + 16_211, ("Passage",)),
        ("locomo", 2_834 + 2_963, ("Utterance",)),
    ],
)
def test_public_data_can_be_read(name: str, memories: int, kinds: tuple[str, ...]) -> None:
    dataset = read_dataset(PUBLIC / name)
    assert sum(map(len, dataset.memories.values())) == memories
    assert dataset.item_kinds == kinds
    assert dataset.vectors.keys() == {
        memory.id for found in dataset.memories.values() for memory in found if memory.kind in kinds
    }
