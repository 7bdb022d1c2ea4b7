"""Write the vectors of the examples that come with the package, by the default embedder.

    .venv/bin/python scripts/embed_examples.py

Needed after a change to `memoria/recall/asides.txt`, to `memoria/recall/subjects.txt`, or to the
default embedder.
"""

from __future__ import annotations

import asyncio

import numpy as np

from memoria.embed import OnnxEmbedder
from memoria.recall import asides, subjects


async def main() -> None:
    """Embed the examples and write the files."""
    embedder = OnnxEmbedder()
    for module in (asides, subjects):
        vectors = await embedder.embed_documents(module.examples())
        np.save(module.VECTORS, np.array(vectors, np.float16))


if __name__ == "__main__":
    asyncio.run(main())
