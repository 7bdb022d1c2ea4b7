"""Embedders that need no model: the vector of a text depends on the text and the name alone.

Also what a process runs that is to be killed: ``python -m tests.integration.hashing URI ...``.
"""

from __future__ import annotations

import asyncio
import sys
from zlib import crc32

import neo4j

import memoria


def vector(name: str, dimensions: int, text: str) -> list[float]:
    return [1 + crc32(f"{name} {place} {text}".encode()) % 997 / 100 for place in range(dimensions)]


def embedder(name: str, dimensions: int) -> memoria.CallableEmbedder:
    def embed(texts: list[str]) -> list[list[float]]:
        return [vector(name, dimensions, text) for text in texts]

    return memoria.CallableEmbedder(embed, dimensions=dimensions, name=name)


def new() -> memoria.Embedder:
    """What ``--embedder tests.integration.hashing:new`` makes."""
    return embedder("new", 6)


async def main(uri: str, user: str, password: str, name: str = "", dimensions: str = "") -> None:
    """Change the embedder, or roll that back if no embedder is named.

    It says ``ready`` once connected, so that it can be killed at work.
    """
    async with neo4j.AsyncGraphDatabase.driver(uri, auth=(user, password)) as driver:
        await driver.verify_connectivity()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        if name:
            await memoria.reembed(driver, embedder=embedder(name, int(dimensions)), batch_size=8)
        else:
            await memoria.roll_back_reembedding(driver)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
