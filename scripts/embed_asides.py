"""Write the vectors of the examples of small talk, by the default embedder.

    .venv/bin/python scripts/embed_asides.py

Needed after a change to `memoria/recall/asides.txt` or to the default embedder.
"""

from __future__ import annotations

import asyncio

import numpy as np

from memoria.embed import OnnxEmbedder
from memoria.recall.asides import VECTORS, examples


async def main() -> None:
    """Embed the examples and write the file."""
    vectors = await OnnxEmbedder().embed_documents(examples())
    np.save(VECTORS, np.array(vectors, np.float16))


if __name__ == "__main__":
    asyncio.run(main())
