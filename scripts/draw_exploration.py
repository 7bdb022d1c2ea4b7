"""Draw one exploration of the sample memory: ``docs/images/exploration.svg``.

    scripts/docs picture

Starts a throw-away Neo4j, loads the sample, explores from one fixed seed without an embedder, and
draws what came back. The same on every machine: nothing that is drawn depends on time or on a
model.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import memoria
from memoria._support.progress import progress_bars
from memoria.evaluation.sample import QUESTIONS, sample_path
from memoria.ingest import ingest_files
from memoria.local import LocalNeo4j

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "exploration.svg"
SCOPE = "sample"
QUESTION = QUESTIONS[0]
SEED = memoria.Seed(id="evt-062", score=1.0)  # the last bun was sold
# Twice the default threshold: the strongest paths alone, so that the picture stays legible.
CONFIG = memoria.RetrieverConfig(strategy=memoria.TransferEnergy(min_activation=0.01))


async def explore_sample(retriever: memoria.GraphRetriever) -> memoria.Exploration:
    """Write the sample into the retriever's scope, and explore from the one seed."""
    await ingest_files(retriever.writer(), [sample_path()])
    async with retriever.explore_seeds(
        [SEED], query_tags=QUESTION.tags, config=CONFIG
    ) as explorations:
        return await anext(aiter(explorations))


def picture(exploration: memoria.Exploration) -> str:
    """Draw what `explore_sample` found."""
    return exploration.to_svg(question=QUESTION.text, query_tags=QUESTION.tags)


async def main() -> None:
    """Explore, draw, write."""
    with progress_bars() as progress:
        async with (
            LocalNeo4j.ephemeral(progress=progress) as server,
            memoria.connect(server.uri, server.auth, scope=SCOPE) as retriever,
        ):
            await memoria.apply_schema(retriever.store)
            exploration = await explore_sample(retriever)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture(exploration), encoding="utf-8")
    print(f"{len(exploration.paths)} paths drawn in {PICTURE}")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except memoria.MemoriaError as exc:
        sys.exit(f"memoria: {exc}")
