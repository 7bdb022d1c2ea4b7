"""Measure how fast conversations are written, and whether a turn takes longer in a large scope.

    scripts/bench conversations
    scripts/bench conversations --embed

Starts a throw-away Neo4j unless one is named, and lets it write ten thousand messages that are
not counted, and two thousand with vectors: a server that has just started plans its first queries,
and compiles its own code for a while. Prints wall time and, as other
programs may run on the machine, the processor time of this process.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np

from benchmarks.server import add_server, opened, parser_of
from memoria.embed import Embedder, OnnxEmbedder
from memoria.graph.schema import apply_schema
from memoria.remember import ConversationWriter
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.types import Conversation, Message

NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
CONVERSATION_MESSAGES = 200
QUERY_TIMEOUT_S = 120.0
WARM_UP = 50
WARM_UP_MESSAGES = 10_000
WARM_UP_VECTORS = 2_000
ROUNDS = 3


def vocabulary(rng: random.Random, count: int = 20_000) -> list[str]:
    """Words that nobody knows, of 4 to 10 letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(rng.choices(letters, k=rng.randint(4, 10))) for _ in range(count)]


def texts(rng: random.Random, words: Sequence[str], count: int) -> list[str]:
    """Texts of about 20 words, of which few are frequent and many are rare, and of some names."""
    shares = [1 / (rank + 10) for rank in range(len(words))]
    found = []
    for _ in range(count):
        chosen = rng.choices(words, weights=shares, k=12)
        filler = rng.choices(("the", "and", "of", "with", "that", "was", "in", "it"), k=10)
        mixed = rng.sample([*chosen, *filler], k=22)
        mixed[rng.randrange(1, 22)] = chosen[0].capitalize()
        found.append(" ".join(mixed) + ".")
    return found


def conversations(rng: random.Random, count: int) -> list[Conversation]:
    """So many messages of two people, in conversations of 200."""
    said = texts(rng, vocabulary(rng), count)
    return [
        Conversation(
            id=f"c{start}",
            messages=[
                Message(
                    text=text,
                    role=("user", "assistant")[place % 2],
                    created_at=NOON + timedelta(minutes=20 * place),
                )
                for place, text in enumerate(said[start : start + CONVERSATION_MESSAGES])
            ],
        )
        for start in range(0, count, CONVERSATION_MESSAGES)
    ]


async def written(writer: ConversationWriter, given: Sequence[Conversation]) -> None:
    """Print the rate at which conversations are written."""
    started, busy = time.perf_counter(), time.process_time()
    report = await writer.write(given)
    seconds, busy_s = time.perf_counter() - started, time.process_time() - busy
    print(
        f"write      {report.messages:>7} messages in {seconds:7.1f} s = "
        f"{report.messages / seconds:6.0f} /s; {1_000 * busy_s / report.messages:.2f} ms each of "
        f"this process; {report.written.relations} edges, {report.topics} topics",
        flush=True,
    )


async def appended(writer: ConversationWriter, rng: random.Random, turns: int, held: int) -> None:
    """Print how long it takes to append a question and its answer."""
    said = texts(rng, vocabulary(random.Random(7)), 2 * (turns + WARM_UP))  # noqa: S311
    times_ms = []
    for turn in range(turns + WARM_UP):
        pair = [Message(text=said[2 * turn]), Message(text=said[2 * turn + 1], role="assistant")]
        started = time.perf_counter()
        await writer.append("now", pair)
        times_ms.append(1_000 * (time.perf_counter() - started))
    p50, p95 = np.percentile(times_ms[WARM_UP:], [50, 95])
    print(
        f"append     two turns, {held:>7} messages there: p50 {p50:.1f} ms, p95 {p95:.1f} ms",
        flush=True,
    )


async def embedded(store: Store, embedder: Embedder, given: Sequence[Conversation]) -> float:
    """Print how much longer writing with vectors takes than embedding alone; return the ratio."""
    said = [message.text for conversation in given for message in conversation.messages]
    started = time.perf_counter()
    for start in range(0, len(said), 128):
        await embedder.embed_documents(said[start : start + 128])
    alone_s = time.perf_counter() - started
    taken_s = []
    for used in (None, embedder):
        writer = ConversationWriter(store, scope=f"bench-{uuid4().hex}", embedder=used)
        started = time.perf_counter()
        await writer.write(given)
        taken_s.append(time.perf_counter() - started)
    plain_s, seconds = taken_s
    print(
        f"embedding  {len(said)} messages alone {alone_s:.1f} s, written without vectors "
        f"{plain_s:.1f} s, embedded and written {seconds:.1f} s: "
        f"{100 * (seconds / alone_s - 1):+.0f} % of embedding alone, "
        f"{100 * (seconds / (alone_s + plain_s) - 1):+.0f} % of one after the other",
        flush=True,
    )
    return seconds / alone_s


async def run(options: argparse.Namespace) -> None:
    """Run all measurements."""
    rng = random.Random(7)  # noqa: S311  # test data
    config = StoreConfig(query_timeout_s=QUERY_TIMEOUT_S)
    embedder = OnnxEmbedder(threads=options.threads) if options.embed else None
    async with opened(options, config) as driver:
        store = Store(driver, database=options.database, config=config)
        await apply_schema(store, embedder=embedder)
        warming = ConversationWriter(store, scope=f"bench-{uuid4().hex}")
        await warming.write(conversations(rng, WARM_UP_MESSAGES))
        if embedder is not None:
            await embedder.load()
            warming = ConversationWriter(store, scope=f"bench-{uuid4().hex}", embedder=embedder)
            await warming.write(conversations(rng, WARM_UP_VECTORS))
            ratios = [
                await embedded(store, embedder, conversations(rng, options.embedded))
                for _ in range(ROUNDS)
            ]
            print(f"median     {100 * (np.median(ratios) - 1):+.0f} % of embedding alone")
        for size in options.sizes:
            writer = ConversationWriter(store, scope=f"bench-{uuid4().hex}")
            await written(writer, conversations(rng, size))
            await appended(writer, rng, options.turns, size)


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = parser_of("conversations", __doc__)
    add_server(parser)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--embed", action="store_true", help="measure with bge-small, too")
    parser.add_argument("--embedded", type=int, default=3_000, help="messages to embed")
    parser.add_argument("--threads", type=int, help="cores to embed on; all, if not given")
    asyncio.run(run(parser.parse_args(arguments)))
