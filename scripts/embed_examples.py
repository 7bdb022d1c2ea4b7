"""Write what memoria learned from the examples that come with the package, by the default embedder.

    .venv/bin/python scripts/embed_examples.py

Needed after a change to `asides.txt`, `leaning.txt` or `subjects.txt` in `memoria/recall`, to the
constants of `memoria.recall.subjects.fit`, or to the default embedder.
"""

from __future__ import annotations

import asyncio

import numpy as np

from memoria.embed import OnnxEmbedder
from memoria.recall import asides, subjects
from memoria.recall.examples import unit_vectors


async def main() -> None:
    """Embed the examples and write the files."""
    embedder = OnnxEmbedder()
    for texts, file in (
        (asides.examples(), asides.VECTORS),
        (asides.leaning(), asides.LEANING_VECTORS),
    ):
        vectors = await embedder.embed_documents(texts)
        np.save(file, np.array(vectors, np.float16))
    told = subjects.subjects()
    vectors = await embedder.embed_documents([one.text for one in told])
    small_talk = np.load(asides.VECTORS).astype(np.float64)
    model = subjects.fit(told, unit_vectors(np.array(vectors)), unit_vectors(small_talk))
    model.write(subjects.FITTED)


if __name__ == "__main__":
    asyncio.run(main())
