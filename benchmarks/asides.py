"""Measure whether memory stays silent when a message asks nothing of it.

    scripts/bench asides DIR [--others DIR]

DIR is a set of chats (``docs/evaluation.md``), whose messages the conversation writer puts into
scopes of several sizes. The messages of ``benchmarks/data/asides`` that ask nothing are then sent
with default settings, and so are questions of the sets given with ``--others``. Finally each scope
gets the memories that answer the messages that do ask, and these are sent. Prints how many got a
context, and its tokens, in Markdown.

MEMORIA_KEPT_VECTORS names a file that keeps the vectors of texts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import uuid4

from benchmarks.environment import ROOT, commit, load
from benchmarks.server import add_server, opened, parser_of
from benchmarks.vectors import kept
from memoria import GraphRetriever, RetrieverConfig, StoreConfig
from memoria.embed import Embedder
from memoria.evaluation import Dataset, prepare, read_dataset
from memoria.evaluation.asking import chosen_questions
from memoria.graph.stats import scope_stats
from memoria.recall.probing import embed_examples
from memoria.remember import ConversationWriter
from memoria.remember.config import ConversationConfig
from memoria.remember.ids import message_id
from memoria.remember.parts import parts_of
from memoria.store import Store
from memoria.types import Conversation, Message

MESSAGES = ROOT / "benchmarks" / "data" / "asides" / "messages.jsonl"
SIZES = (60, 700, 2_000)
FOREIGN = 100
# Far more than a recall takes: nothing here is to be left out because the machine is busy.
DEADLINE_S = 60.0
_ASKED = "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message, and what it got."""

    language: str
    category: str
    size: int
    tokens: int
    has_memory: bool
    degraded: bool

    @property
    def got(self) -> bool:
        """Whether it got a context."""
        return self.tokens > 0


def asides() -> list[dict[str, Any]]:
    """Read the set."""
    return [json.loads(line) for line in MESSAGES.read_text(encoding="utf-8").splitlines()]


def first_memories(dataset: Dataset, size: int) -> list[Conversation]:
    """Return the first messages of a set that become so many memories, chat after chat."""
    chats = [one for chat in dataset.chats.values() for one in chat.conversations]
    left, found = size, []
    for number, one in enumerate(chats):
        taken = list(_fitting(one.messages, left))
        left -= sum(map(_memories, taken))
        if taken:
            found.append(replace(one, id=f"{number}:{one.id}", messages=taken))
        if len(taken) < len(one.messages):
            return found
    raise SystemExit(f"{dataset.name} has only {size - left} memories, fewer than {size}")


def _memories(message: Message) -> int:
    return len(parts_of(message.text, ConversationConfig().max_chars))


def _fitting(messages: Iterable[Message], size: int) -> Iterator[Message]:
    for message in messages:
        size -= _memories(message)
        if size < 0:
            return
        yield message


async def answer(writer: ConversationWriter, scope: Sequence[Conversation]) -> None:
    """Write the memories that the asking messages need, each at the time of another message."""
    times = [message.created_at for one in scope for message in one.messages]
    asking = [row for row in asides() if row["asks"]]
    step = len(times) / len(asking)
    await writer.write(
        Conversation(
            id=f"{_ASKED}-{row['id']}",
            messages=[
                Message(id=row["id"], text=row["memory"], created_at=times[int(number * step)])
            ],
        )
        for number, row in enumerate(asking)
    )


async def send(retriever: GraphRetriever, row: dict[str, Any], size: int) -> Sent:
    """Send one message."""
    found = await retriever.recall(row["text"])
    memory = message_id("", f"{_ASKED}-{row['id']}", row["id"])
    return Sent(
        language=row["language"],
        category=row["category"],
        size=size,
        tokens=found.context.tokens if found.context.items else 0,
        has_memory=memory in {item.id for item in found.context.items},
        degraded=bool(found.trace.degraded),
    )


def show(title: str, sent: Sequence[Sent], *, memory: bool = False) -> None:
    """Print a table: share with a context by size, language and category, and the tokens."""
    sizes = sorted({one.size for one in sent})
    print(f"\n{title}\n")
    print(f"| | {' | '.join(f'{size:,} memories' for size in sizes)} |")
    print("|---" * (len(sizes) + 1) + "|")
    by: list[tuple[str, Callable[[Sent], bool]]] = [("all", lambda _: True)]
    for field in ("language", "category"):
        values = list(dict.fromkeys(getattr(one, field) for one in sent))
        if len(values) > 1:
            by += [(value, partial(_has, field, value)) for value in values]
    for name, belongs in by:
        cells = []
        for size in sizes:
            mine = [one for one in sent if one.size == size and belongs(one)]
            cells.append(_share([one.has_memory if memory else one.got for one in mine]))
        print(f"| {name} | {' | '.join(cells)} |")
    tokens = [sum(one.tokens for one in sent if one.size == size) for size in sizes]
    each = [
        f"{total / sum(one.size == size for one in sent):.0f}"
        for total, size in zip(tokens, sizes, strict=True)
    ]
    print(f"| tokens added per message | {' | '.join(each)} |", flush=True)
    if late := sum(one.degraded for one in sent):
        print(f"\n{late} of {len(sent)} recalls were degraded")


def _has(field: str, value: str, one: Sent) -> bool:
    return bool(getattr(one, field) == value)


def _share(flags: Sequence[bool]) -> str:
    return f"{sum(flags)} of {len(flags)} ({100 * sum(flags) / len(flags):.0f} %)"


async def run(options: argparse.Namespace) -> None:
    """Fill the scopes, send everything, and print."""
    embedder, dataset = kept(), read_dataset(options.data, raw=True)
    if not dataset.chats:
        raise SystemExit(f"{options.data} has no chats")
    foreign = [
        {"id": one.id, "text": one.text, "language": folder.name, "category": "foreign"}
        for folder in options.others
        for one in chosen_questions(read_dataset(folder, raw=True).questions, options.foreign)
    ]
    print(f"commit {commit()}, load {load()}, set {dataset.name}, {embedder.name}")
    async with opened(options, StoreConfig()) as driver:
        store = Store(driver, database=options.database)
        await prepare(store, embedder)
        measured = [
            await _measured(store, embedder, dataset, size, foreign) for size in options.sizes
        ]
    silent, strange, asking = ([*chain(*each)] for each in zip(*measured, strict=True))
    show("Messages that ask nothing and got a context", silent)
    if strange:
        show("Questions of other sets that got a context", strange)
    show("Messages that ask and got a context", asking)
    show("Messages that ask and got the memory that answers", asking, memory=True)


async def _measured(
    store: Store,
    embedder: Embedder,
    dataset: Dataset,
    size: int,
    foreign: Sequence[dict[str, Any]],
) -> tuple[list[Sent], list[Sent], list[Sent]]:
    """Fill a scope, and send everything; return what asked nothing, was foreign, and asked."""
    scope = f"asides-{uuid4().hex}"
    conversations = first_memories(dataset, size)
    writer = ConversationWriter(store.patient(), scope=scope, embedder=embedder)
    await writer.write(conversations)
    print(f"{size} asked for: {(await scope_stats(store, scope)).memories} memories", flush=True)
    config = RetrieverConfig(deadline_s=DEADLINE_S)
    retriever = GraphRetriever(store, scope=scope, embedder=embedder, config=config)
    await embed_examples(embedder)
    rows = asides()
    silent = [await send(retriever, row, size) for row in rows if not row["asks"]]
    strange = [await send(retriever, row, size) for row in foreign]
    await answer(writer, conversations)
    asking = [await send(retriever, row, size) for row in rows if row["asks"]]
    shares = [_share([one.got for one in each]) for each in (silent, strange, asking) if each]
    print(f"  with a context: {', '.join(shares)}", flush=True)
    return silent, strange, asking


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = parser_of("asides", __doc__)
    add_server(parser)
    parser.add_argument("data", type=Path, metavar="DIR", help="a set of chats")
    parser.add_argument("--others", type=Path, nargs="+", default=[], metavar="DIR")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="memories of scopes")
    parser.add_argument("--foreign", type=int, default=FOREIGN, help="questions of each other set")
    asyncio.run(run(parser.parse_args(arguments)))
