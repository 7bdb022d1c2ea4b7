"""Cache the vectors of texts in a file, so that a second run need not make them again.

    export MEMORIA_KEPT_VECTORS=vectors.sqlite
    memoria tune DIR DIR --embedder benchmarks.vectors:kept

`kept` is the default embedder with such a file, or the embedder named in MEMORIA_KEPT_EMBEDDER.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Sequence

import numpy as np

from memoria.embed import DEFAULT_ONNX_MODEL, Embedder, OnnxEmbedder

FILE, MODEL = "MEMORIA_KEPT_VECTORS", "MEMORIA_KEPT_EMBEDDER"
IN_MEMORY = ":memory:"
BATCH = 64


def kept() -> KeptVectors:
    """Return the embedder with its cache, both as named by the environment."""
    model = OnnxEmbedder(os.environ.get(MODEL, DEFAULT_ONNX_MODEL))
    return KeptVectors(model, os.environ.get(FILE, "vectors.sqlite"))


class KeptVectors:
    """An embedder that makes the vector of each text once; several embedders may share its file."""

    def __init__(self, embedder: Embedder, path: str = IN_MEMORY) -> None:
        self.name, self.dimensions = embedder.name, embedder.dimensions
        self._embedder = embedder
        self._file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Embed texts to be stored."""
        keys = {text: self._key("document", text) for text in texts}
        known = {text: self._vector(key) for text, key in keys.items()}
        missing = [text for text, vector in known.items() if vector is None]
        for start in range(0, len(missing), BATCH):  # an interrupted run loses one batch at most
            batch = missing[start : start + BATCH]
            made = await self._embedder.embed_documents(batch)
            for text, vector in zip(batch, made, strict=True):
                known[text] = self._keep(keys[text], vector)
        return [known[text] or () for text in texts]

    async def embed_query(self, text: str) -> Sequence[float]:
        """Embed a question."""
        key = self._key("query", text)
        known = self._vector(key)
        return known or self._keep(key, await self._embedder.embed_query(text))

    def _key(self, of: str, text: str) -> bytes:
        return hashlib.sha256(f"{self.name}\n{of}\n{text}".encode()).digest()

    def _vector(self, key: bytes) -> list[float] | None:
        row = self._file.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return None if row is None else [float(x) for x in np.frombuffer(row[0], np.float32)]

    def _keep(self, key: bytes, vector: Sequence[float]) -> list[float]:
        stored = np.array(vector, np.float32)
        row = (key, stored.tobytes())
        self._file.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", row)
        return [float(x) for x in stored]
