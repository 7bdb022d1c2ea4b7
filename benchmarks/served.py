"""Measure `memoria mcp` as a host meets it: from the start of the program to the second recall.

    scripts/bench mcp [--rounds 5]

Starts a throw-away Neo4j with the sample memory, and for each round a new server over standard
streams and one over HTTP. The model is on this machine already, but not loaded. Prints Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import cast

from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

import memoria
from memoria.evaluation.sample import QUESTIONS, sample_path
from memoria.ingest import ingest_files
from memoria.local import LocalNeo4j
from memoria.recall.context import estimate_tokens

SCOPE = "sample"
COMMAND = ("-m", "memoria", "mcp", "--scope", SCOPE)
PAUSE_S = 5.0  # after which a host asks, when the server has opened what it needs
COLUMNS = ("greeted", "first recall at once", "second", "first recall after 5 s", "second")


@asynccontextmanager
async def over_stdio(environment: Mapping[str, str]) -> AsyncIterator[Client]:
    """Start a server at standard streams."""
    line = StdioServerParameters(command=sys.executable, args=[*COMMAND], env={**environment})
    async with Client(line) as client:
        yield client


@asynccontextmanager
async def over_http(environment: Mapping[str, str]) -> AsyncIterator[Client]:
    """Start a server on a free port, and wait until it says where it listens."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *COMMAND,
        *("--transport", "http", "--port", "0"),
        env={**os.environ, **environment},
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        told = await cast(asyncio.StreamReader, process.stderr).readline()
        url = told.decode().split()[-1]
        async with Client(url) as client:
            yield client
    finally:
        process.terminate()
        await process.wait()


def check(result: CallToolResult) -> None:
    """End the measurement if a tool failed."""
    if result.is_error:
        raise SystemExit(f"a tool failed: {result.content}")


async def times_of(
    serving: Callable[[Mapping[str, str]], AbstractAsyncContextManager[Client]],
    environment: Mapping[str, str],
    pause_s: float,
) -> list[float]:
    """Return the times of a greeting and of two recalls, the first of them after a pause; ms."""
    started = time.perf_counter()
    async with serving(environment) as client:
        times = [time.perf_counter() - started]
        await asyncio.sleep(pause_s)
        for question in QUESTIONS[:2]:
            started = time.perf_counter()
            check(await client.call_tool("memory_recall", {"query": question.text}))
            times.append(time.perf_counter() - started)
    return [1_000 * each for each in times]


async def tokens_of(environment: Mapping[str, str]) -> int:
    """Return what the list of tools costs a model."""
    async with over_stdio(environment) as client:
        listed = await client.list_tools()
    return estimate_tokens(listed.model_dump_json(by_alias=True, exclude_none=True))


async def run(rounds: int) -> None:
    """Fill a server, start the rounds, and print medians."""
    embedder = memoria.OnnxEmbedder()
    await embedder.load()  # so that no server downloads it
    async with LocalNeo4j.ephemeral() as server:
        user, password = server.auth
        environment = {
            "NEO4J_URI": server.uri,
            "NEO4J_USERNAME": user,
            "NEO4J_PASSWORD": password,
            **{key: os.environ[key] for key in ("MEMORIA_HOME", "PYTHONPATH") if key in os.environ},
        }
        where = (server.uri, server.auth)
        async with memoria.connect(*where, scope=SCOPE, embedder=embedder) as retriever:
            await ingest_files(retriever.writer(), [sample_path()])
            for question in QUESTIONS[:2]:  # the database plans its queries once
                await retriever.recall(question.text, deadline_s=60)
        print(f"| median of {rounds}, ms | {' | '.join(COLUMNS)} |")
        print(f"|---{'|---' * len(COLUMNS)}|")
        for name, serving in (("standard streams", over_stdio), ("HTTP", over_http)):
            at_once = [await times_of(serving, environment, 0.0) for _ in range(rounds)]
            later = [await times_of(serving, environment, PAUSE_S) for _ in range(rounds)]
            columns = [*zip(*at_once, strict=True), *list(zip(*later, strict=True))[1:]]
            cells = " | ".join(f"{statistics.median(each):.0f}" for each in columns)
            print(f"| {name} | {cells} |", flush=True)
        print(f"\nlist of tools: {await tokens_of(environment)} tokens")


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(prog="scripts/bench mcp", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    asyncio.run(run(parser.parse_args(arguments).rounds))
