"""Recall with an installed memoria: run by check-wheel in an environment that holds the wheel.

In: the program of an environment that holds the wheel without extras. It has neither a server nor
an embedder of its own, and uses those memories by words.
"""

from __future__ import annotations

import asyncio
import os
import sys

import memoria
from memoria.evaluation.sample import QUESTIONS, sample_path
from memoria.ingest import ingest_files
from memoria.local import EphemeralNeo4j, LocalNeo4j

# This tries the wheel; a cold database on a busy machine may be slow, with the first query as well.
DEADLINE_S = 120.0
PATIENT = memoria.StoreConfig(query_timeout_s=DEADLINE_S)


async def main(program: str) -> None:
    """Fail unless a question to the sample memory reaches an answer that no word of it names."""
    embedder = memoria.OnnxEmbedder()
    async with (
        LocalNeo4j.ephemeral() as server,
        memoria.connect(
            server.uri, server.auth, scope="smoke", embedder=embedder, store=PATIENT
        ) as retriever,
    ):
        await memoria.apply_schema(retriever.store, embedder=embedder)
        writer = retriever.writer()
        await ingest_files(writer, [sample_path()])
        question = QUESTIONS[0]
        recall = await retriever.recall(
            question.text, query_tags=question.tags, deadline_s=DEADLINE_S
        )
        reached = {entry.memory.id for entry in recall.ranked}
        missing = set(question.expects) - reached
        print(f"memoria at {memoria.__file__}")
        print(f"{len(reached)} memories reached, {recall.context.tokens} tokens of context")
        if missing:
            raise SystemExit(f"not reached: {sorted(missing)}")
        await use_base(program, server, question.text)


async def use_base(program: str, server: EphemeralNeo4j, question: str) -> None:
    """Fail unless the installation without extras helps, recalls and examines."""
    user, password = server.auth
    environ = {"NEO4J_URI": server.uri, "NEO4J_USERNAME": user, "NEO4J_PASSWORD": password}
    for arguments, codes, expected in (
        (["--help"], {0}, "recall"),
        (["recall", question, "--embedder", "none", "--scope", "smoke"], {0}, " tokens for "),
        (["doctor", "--scope", "smoke", "--sample=1", "--all"], {0, 4}, "indexes"),  # 4: warnings
    ):
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            env={**os.environ, **environ},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output = (await process.communicate())[0].decode()
        print(f"without extras: memoria {arguments[0]}: exit code {process.returncode}")
        if process.returncode not in codes or expected not in output:
            raise SystemExit(output)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
