"""Write a dataset into scopes of its own: a graph as it is, chats with a `ConversationWriter`.

In: a store, a dataset, an embedder or supplied vectors. Out: which scopes were written. Writes;
scopes that are complete are left as they are. Queries: those of the schema, the writers and the
statistics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memoria._support.progress import ProgressCallback, silent
from memoria.embed import CallableEmbedder, Embedder
from memoria.errors import InvalidInputError
from memoria.evaluation.dataset import Chat, Dataset
from memoria.graph.schema import apply_schema
from memoria.graph.stats import scope_stats
from memoria.remember.conversations import ConversationWriter
from memoria.store import Store
from memoria.types import Conversation, Memory
from memoria.writer import GraphWriter

PROGRESS_STEP = 100

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """Report of a load.

    Attributes
    ----------
    written, there
        Scopes that were written, and scopes that were already complete.
    """

    written: tuple[str, ...]
    there: tuple[str, ...]


def supplied_embedder(dataset: Dataset, *, name: str | None = None) -> Embedder:
    """Return an embedder that knows the vectors supplied for the questions of a dataset.

    Parameters
    ----------
    name
        Name to record with the index; by default the same name for all supplied vectors of a size.

    Raises
    ------
    InvalidInputError
        The dataset has no vectors for its questions, or none for its memories.
    """
    known = dataset.question_vectors
    for kind, there in (("emb_nodes", dataset.vectors), ("emb_questions", known)):
        if not there:
            raise InvalidInputError(
                f"dataset {dataset.name} has no vectors: it lacks the {kind} file of split "
                f"{dataset.split}"
            )

    async def look_up(texts: list[str]) -> list[list[float]]:
        try:
            return [known[text].tolist() for text in texts]
        except KeyError as exc:
            raise InvalidInputError(
                "the supplied vectors are those of the dataset's questions: ask one of these"
            ) from exc

    dimensions = next(iter(known.values())).size
    name = name or f"supplied-vectors-{dimensions}d"
    return CallableEmbedder(look_up, dimensions=dimensions, name=name)


async def prepare(store: Store, embedder: Embedder | None) -> None:
    """Make the indexes for the embedder's vectors, unless they exist.

    Raises
    ------
    DimensionError
        The database holds the vectors of another embedder.
    """
    await apply_schema(store, embedder=embedder)


async def load_dataset(
    store: Store,
    dataset: Dataset,
    *,
    embedder: Embedder | None,
    use_supplied: bool = False,
    progress: ProgressCallback = silent,
) -> LoadReport:
    """Write every scope that is not complete; call `prepare` first.

    Parameters
    ----------
    embedder
        Makes the vectors of the ranked memories; None makes none. Other memories never get a
        vector: they only connect memories, and are not searched for.
    use_supplied
        Whether the ranked memories get the vectors supplied with the dataset instead.
    """
    if dataset.chats:
        return await _load_chats(store, dataset, embedder, progress)
    has_vectors = use_supplied or embedder is not None
    store = store.patient()  # looking for missing memories reads whole scopes
    missing = [
        scope
        for scope in dataset.memories
        if not await _is_complete(store, dataset, scope, has_vectors)
    ]
    supplied = dataset.vectors if use_supplied else {}
    steps = _Steps(dataset, missing, progress)
    for scope in missing:
        await _write(
            store, scope, steps, embedder=None if use_supplied else embedder, supplied=supplied
        )
    there = tuple(scope for scope in dataset.memories if scope not in missing)
    return LoadReport(written=tuple(missing), there=there)


async def _load_chats(
    store: Store, dataset: Dataset, embedder: Embedder | None, progress: ProgressCallback
) -> LoadReport:
    """Write the chats; the writer skips messages that are there, and missing vectors are added."""
    total = sum(len(chat.ids) for chat in dataset.chats.values())
    done = 0

    def counted(conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        nonlocal done
        for one in conversations:
            yield one
            done += len(one.messages)
            progress("messages", done, total)

    written: list[str] = []
    there: list[str] = []
    for scope, chat in dataset.chats.items():
        writer = _chat_writer(store, scope, chat, embedder)
        report = await writer.write(counted(chat.conversations))
        (written if report.messages else there).append(scope)
        if not report.messages and embedder is not None:
            vectors = GraphWriter(store, scope=scope, embedder=embedder)
            await vectors.backfill_embeddings(kinds=dataset.item_kinds)
    return LoadReport(written=tuple(written), there=tuple(there))


def _chat_writer(
    store: Store, scope: str, chat: Chat, embedder: Embedder | None
) -> ConversationWriter:
    """Make a writer whose clock shows the time of the first message.

    Topics are dated by this clock, and must not be later than any question.
    """
    said = (message for one in chat.conversations for message in one.messages)
    now = min(_known(message.created_at for message in said))
    return ConversationWriter(store, scope=scope, embedder=embedder, clock=lambda: now)


def _known(times: Iterable[datetime | None]) -> list[datetime]:
    """Return the known times; if there are none, a fixed time."""
    return [time for time in times if time is not None] or [datetime(2000, 1, 1, tzinfo=UTC)]


async def _is_complete(store: Store, dataset: Dataset, scope: str, has_vectors: bool) -> bool:
    """Tell whether a scope has as many memories, vectors and edges as the dataset."""
    found = await scope_stats(store, scope)
    memories = dataset.memories[scope]
    items = sum(memory.kind in dataset.item_kinds for memory in memories)
    return (
        found.memories + sum(found.connectors.values()) == len(memories)
        and found.edges == len(dataset.relations[scope])
        and found.embedded >= (items if has_vectors else 0)
    )


class _Steps:
    """The three steps of writing, scope by scope, and how far each step is."""

    def __init__(self, dataset: Dataset, scopes: Sequence[str], progress: ProgressCallback) -> None:
        self.memories = {scope: dataset.memories[scope] for scope in scopes}
        self.items = {scope: self._chosen(dataset, scope, ranked=True) for scope in scopes}
        self.others = {scope: self._chosen(dataset, scope, ranked=False) for scope in scopes}
        self.edges = {scope: dataset.relations[scope] for scope in scopes}
        self._done: Counter[str] = Counter()
        self._progress = progress

    @staticmethod
    def _chosen(dataset: Dataset, scope: str, *, ranked: bool) -> list[Memory]:
        memories = dataset.memories[scope]
        return [memory for memory in memories if (memory.kind in dataset.item_kinds) == ranked]

    def counted(self, step: Mapping[str, Sequence[T]], scope: str, name: str) -> Iterator[T]:
        """Yield the values that a step writes into a scope, and report how far the step is."""
        total = sum(map(len, step.values()))
        for value in step[scope]:
            yield value
            self._done[name] += 1
            if self._done[name] % PROGRESS_STEP == 0 or self._done[name] == total:
                self._progress(name, self._done[name], total)


async def _write(
    store: Store,
    scope: str,
    steps: _Steps,
    *,
    embedder: Embedder | None,
    supplied: Mapping[str, NDArray[np.float64]],
) -> None:
    memories = steps.memories[scope]
    # A memory without a time gets one that is the same in each run.
    now = max(_known(memory.created_at for memory in memories))
    kinds = sorted({memory.kind for memory in memories})

    def writer(embedder: Embedder | None) -> GraphWriter:
        return GraphWriter(store, scope=scope, kinds=kinds, embedder=embedder, clock=lambda: now)

    items = steps.counted(steps.items, scope, "items")
    if supplied:  # one at a time, because vectors as Python lists are large
        items = (replace(m, embedding=supplied[m.id].tolist()) for m in items)
    await writer(embedder).write(items)
    await writer(None).write(
        steps.counted(steps.others, scope, "other nodes"),
        steps.counted(steps.edges, scope, "edges"),
    )
