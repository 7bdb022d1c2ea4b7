"""Measure what a graph is worth that memoria makes of raw texts, beside a prepared graph.

    scripts/bench raw DIR --limit 240 --exclude-category adversarial

DIR is a dataset of conversations or of passages (``docs/evaluation.md``). Only the texts of its
nodes are used. Of utterances (text, speaker, time, order) `ConversationWriter` makes a graph, of
passages (title, text) `DocumentWriter`. The questions are then asked twice, with the same settings
and the same vectors: in the graph that came with the dataset, and in ours. Parts of a long text
count as the text, at the place of the first of them.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.locomo import lines
from benchmarks.server import add_server, opened
from memoria import StoreConfig
from memoria.embed import Embedder, OnnxEmbedder
from memoria.evaluation import (
    Dataset,
    EvaluationConfig,
    Question,
    Run,
    ask_all,
    bootstrap,
    load_dataset,
    prepare,
    read_dataset,
    score,
)
from memoria.evaluation.files import find_file
from memoria.link import Linker
from memoria.remember.config import ConversationConfig
from memoria.remember.conversations import ConversationWriter
from memoria.remember.documents import DocumentConfig, DocumentWriter
from memoria.remember.ids import document_id, message_id, whole_id
from memoria.remember.mentions import Extractor
from memoria.remember.rules import RuleExtractor
from memoria.store import Store
from memoria.types import Conversation, ConversationReport, Document, LinkReport, Message

KS = (5, 10, 25)
QUERY_TIMEOUT_S = 120.0
KIND = "Event"


class KeptVectors:
    """An embedder that makes the vector of each text once: both graphs have the same texts."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimensions = embedder.name, embedder.dimensions
        self.vectors: dict[str, Sequence[float]] = {}
        self.queries: dict[str, Sequence[float]] = {}
        self._embedder = embedder

    def load(self, path: Path) -> None:
        """Take the vectors that a run before has left in a file."""
        with np.load(path) as kept:
            self.vectors.update(zip(kept["texts"].tolist(), kept["vectors"], strict=True))

    def save(self, path: Path) -> None:
        """Leave the vectors in a file for the next run."""
        vectors = np.array([self.vectors[text] for text in self.vectors], np.float32)
        np.savez(path, texts=np.array(list(self.vectors)), vectors=vectors)

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Embed texts to be stored."""
        if missing := [text for text in dict.fromkeys(texts) if text not in self.vectors]:
            vectors = await self._embedder.embed_documents(missing)
            self.vectors.update(zip(missing, vectors, strict=True))
        return [self.vectors[text] for text in texts]

    async def embed_query(self, text: str) -> Sequence[float]:
        """Embed a question."""
        if text not in self.queries:
            self.queries[text] = await self._embedder.embed_query(text)
        return self.queries[text]


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """The messages or passages of a dataset.

    Attributes
    ----------
    conversations
        Name of a conversation -> its messages.
    documents
        The passages.
    ids
        Id of the memory that a message or passage becomes -> its id in the dataset.
    """

    conversations: Mapping[str, Conversation]
    documents: Sequence[Document]
    ids: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a graph is made of the messages.

    Attributes
    ----------
    extractor, config
        As in `ConversationWriter`.
    link
        Whether the messages are linked by their vectors afterwards.
    """

    extractor: Extractor | None = field(default_factory=RuleExtractor)
    config: ConversationConfig = field(
        default_factory=lambda: ConversationConfig(kinds={"other": KIND})
    )
    link: bool = False


def read_raw(folder: Path, split: str = "dev") -> Raw:
    """Read the texts of a dataset in their order: utterances, or passages."""
    path = find_file(folder, "nodes", split)
    assert path is not None, f"{folder} has no nodes"  # noqa: S101  # read_dataset has read them
    messages: dict[str, list[Message]] = defaultdict(list)
    documents = []
    ids = {}
    for node in lines(path):
        if node["kind"] == "utterance":
            conversation = str(node["conversation"])
            said_at = node.get("time")
            messages[conversation].append(
                Message(
                    id=node["id"],
                    text=node["text"].removeprefix(f"{node['speaker']}: "),
                    role="other",
                    speaker=node["speaker"],
                    created_at=said_at and datetime.fromisoformat(said_at).replace(tzinfo=UTC),
                )
            )
            ids[message_id("raw", conversation, node["id"])] = node["id"]
        elif node["kind"] == "passage":
            documents.append(Document(id=node["id"], title=node.get("title"), text=node["text"]))
            ids[document_id("", node["id"])] = node["id"]
    made = {c: Conversation(id=c, source="raw", messages=said) for c, said in messages.items()}
    return Raw(conversations=made, documents=documents, ids=ids)


def raw_dataset(dataset: Dataset, name: str) -> Dataset:
    """Return the questions of a dataset, to be asked in scopes that were written otherwise."""
    scopes = {scope: f"{name}/{scope}" for scope in dataset.memories}
    return replace(
        dataset,
        memories=dict.fromkeys(scopes.values(), ()),
        relations=dict.fromkeys(scopes.values(), ()),
        questions=tuple(replace(q, scope=scopes[q.scope]) for q in dataset.questions),
        item_kinds=(KIND,),
        vectors={},
    )


def without(dataset: Dataset, excluded: Sequence[str]) -> Dataset:
    """Return a dataset without the questions of these categories."""
    kept = tuple(q for q in dataset.questions if q.category not in excluded)
    return replace(dataset, questions=kept)


def as_given(run: Run, ids: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the rankings in ids of the dataset; a text counts where its first part stands."""
    return {
        question: list(dict.fromkeys(ids[whole_id(id_)] for id_ in ranked))
        for question, ranked in run.rankings.items()
    }


async def write_raw(
    store: Store,
    raw: Raw,
    dataset: Dataset,
    *,
    recipe: Recipe,
    embedder: Embedder,
) -> tuple[ConversationReport, LinkReport]:
    """Write the texts into the scopes of `raw_dataset`; link them afterwards if wanted."""
    report, links = ConversationReport(), LinkReport()
    for scope in dataset.memories:
        if raw.documents:
            report = report.plus(await write_passages(store, raw, scope, embedder))
            if recipe.link:
                links = links.plus(await Linker(store, scope=scope).link())
            continue
        conversation = raw.conversations[scope.rsplit("/", 1)[1]]
        times = [m.created_at for m in conversation.messages if m.created_at is not None]
        now = max(times, default=datetime(2000, 1, 1, tzinfo=UTC))
        writer = ConversationWriter(
            store,
            scope=scope,
            embedder=embedder,
            extractor=recipe.extractor,
            config=recipe.config,
            clock=lambda now=now: now,  # type: ignore[misc]
        )
        report = report.plus(await writer.write([conversation]))
        if recipe.link:
            links = links.plus(await Linker(store, scope=scope).link())
    return report, links


async def write_passages(
    store: Store, raw: Raw, scope: str, embedder: Embedder
) -> ConversationReport:
    """Write the passages into a scope; return the counts that both kinds of texts have."""
    now = datetime(2000, 1, 1, tzinfo=UTC)
    writer = DocumentWriter(
        store,
        scope=scope,
        embedder=embedder,
        config=DocumentConfig(kind=KIND),
        clock=lambda: now,
    )
    done = await writer.write(raw.documents)
    print(f"  {done.names} edges to documents by their titles, {done.topics} topics")
    return ConversationReport(messages=done.documents, parts=done.parts, written=done.written)


async def ask(
    store: Store, dataset: Dataset, embedder: Embedder, limit: int | None
) -> tuple[Run, tuple[Question, ...]]:
    """Ask the questions, as ``memoria evaluate`` does."""
    config = EvaluationConfig(ks=KS, limit=limit)
    (run,) = await ask_all(store, dataset, embedder=embedder, config=config)
    asked = [q for q in dataset.questions if q.id in run.rankings]
    return run, tuple(asked)


def recall_of(asked: Sequence[Question], rankings: Mapping[str, Sequence[str]]) -> np.ndarray:
    """Return the recall of each question at each k; (questions, K)."""
    return score({q.id: q.gold for q in asked}, rankings, KS).recall


def show(name: str, recall: np.ndarray, run: Run) -> None:
    """Print the figures of one graph."""
    figures = "  ".join(
        f"R@{k} {100 * each.mean:5.1f} ({100 * each.low:.1f} to {100 * each.high:.1f})"
        for k, each in zip(KS, bootstrap(recall), strict=True)
    )
    p50_ms = 1_000 * float(np.median(run.latencies_s))
    print(f"{name:<22}{figures}  p50 {p50_ms:.0f} ms", flush=True)


async def measure(options: argparse.Namespace) -> None:
    """Write both graphs of each dataset, ask, and print."""
    embedder = KeptVectors(OnnxEmbedder())
    config = StoreConfig(query_timeout_s=QUERY_TIMEOUT_S)
    async with opened(options, config) as driver:
        store = Store(driver, database=options.database, config=config)
        await prepare(store, embedder)
        if options.vectors is not None and options.vectors.exists():
            embedder.load(options.vectors)
        for folder in options.folders:
            dataset = without(read_dataset(folder), options.exclude_category)
            raw = read_raw(folder)
            print(f"{dataset.name}: {len(dataset.questions)} questions")
            await load_dataset(store, dataset, embedder=embedder)
            prepared, asked = await ask(store, dataset, embedder, options.limit)
            if options.vectors is not None:
                embedder.save(options.vectors)
            base = recall_of(asked, prepared.rankings)
            show("prepared", base, prepared)
            for link in (False, True) if options.links else (False,):
                name = "raw, linked" if link else "raw"
                ours = raw_dataset(dataset, name)
                started = time.perf_counter()
                report, links = await write_raw(
                    store,
                    raw,
                    ours,
                    recipe=Recipe(link=link),
                    embedder=embedder,
                )
                seconds = time.perf_counter() - started
                run, _ = await ask(store, ours, embedder, options.limit)
                recall = recall_of(asked, as_given(run, raw.ids))
                show(name, recall, run)
                show("  minus prepared", recall - base, run)
                print(
                    f"  {report.messages} texts, {report.parts} memories, "
                    f"{report.written.relations_created} edges, {links.edges_created} links, "
                    f"{seconds:.1f} s"
                )


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench raw",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_server(parser)
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--limit", type=int, help="questions to ask, evenly spread")
    parser.add_argument("--exclude-category", action="append", default=[])
    parser.add_argument("--links", action="store_true", help="also with links by cosine")
    parser.add_argument("--vectors", type=Path, help="file (.npz) that keeps the vectors of texts")
    asyncio.run(measure(parser.parse_args(arguments)))
