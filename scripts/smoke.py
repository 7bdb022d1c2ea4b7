"""Recall with an installed memoria: run by check-wheel in an environment that holds the wheel."""

from __future__ import annotations

import asyncio

import memoria
from memoria.ingest import ingest_files
from memoria.local import LocalNeo4j
from memoria.sample import QUESTIONS, sample_path


async def main() -> None:
    """Fail unless a question to the sample memory reaches an answer that no word of it names."""
    embedder = memoria.OnnxEmbedder()
    async with (
        LocalNeo4j.ephemeral() as server,
        memoria.connect(server.uri, server.auth, scope="smoke", embedder=embedder) as retriever,
    ):
        await memoria.apply_schema(
            retriever.store, dimensions=embedder.dimensions, embedder=embedder.name
        )
        writer = memoria.GraphWriter(retriever.store, scope="smoke", embedder=embedder)
        await ingest_files(writer, [sample_path()])
        question = QUESTIONS[0]
        recall = await retriever.recall(question.text, query_tags=question.tags)
        reached = {entry.memory.id for entry in recall.ranked}
        missing = set(question.expects) - reached
        print(f"memoria at {memoria.__file__}")
        print(f"{len(reached)} memories reached, {recall.context.tokens} tokens of context")
        if missing:
            raise SystemExit(f"not reached: {sorted(missing)}")


if __name__ == "__main__":
    asyncio.run(main())
