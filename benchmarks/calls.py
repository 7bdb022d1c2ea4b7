"""Count the Python calls, frames and files between a call of memoria and the driver.

    scripts/bench calls

No server is needed: a stub replaces the driver and answers each query at once, with a
record of its columns. A call counts if its code is memoria's own; that a coroutine continues after
it has waited is no further call. Frames are those from the first call of memoria to the driver,
over the tasks that start one another. Ranking and packing run in a thread and are not counted.
Spans and metrics are off. Prints Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Self

import neo4j

import memoria
from memoria._support import telemetry
from memoria.store import ServerFacts, Store
from memoria.store.queries import load, parse, root
from memoria.types import Message

_HOME = str(Path(memoria.__file__).parent)
_SCOPE = "scope"
_INDEXES = ("memory_embedding", "memory_scope_id", "memory_text", "memoria_meta_key")
_EMPTY: Mapping[str, object] = {
    "BOOLEAN": True,
    "INTEGER": 0,
    "FLOAT": 0.0,
    "STRING": "",
    "LIST": [],
}
_MEMORIES = ("a", "b", "c")


def _memory(id_: str) -> list[Any]:
    """Return a memory as ``graph.hydrate`` does."""
    lists: list[list[str]] = [[], [], []]
    return [id_, ["Memory", "Event"], f"text {id_}", *lists, None, None, None, None, None, None]


def _level(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one hop along the chain a -> b -> c."""
    level = []
    for run, id_, energy, _ in parameters["frontier"]:
        following = _MEMORIES[_MEMORIES.index(id_) + 1 :][:1]
        children = [[each, -0.9 * energy, "r", "out", [], 0.9, 1.0] for each in following]
        level.append([run, id_, 1, bool(children), children])
    return {"level": level, "memories": [_memory(row[1]) for row in parameters["frontier"]]}


def _candidates(parameters: Mapping[str, Any]) -> dict[str, Any]:
    unread = [id_ for id_ in parameters["ids"] if id_ not in parameters["known"]]
    return {
        "candidates": [
            [id_, None, 1, [], _memory(id_) if id_ in unread else None, None, [], [], None]
            for id_ in parameters["ids"]
        ]
    }


_ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "seeds.text": lambda _: {"hits": [["a", 1.0]], "seen": 1},
    "strategies.level": _level,
    "ranking.candidates": _candidates,
    "remember.lock": lambda parameters: {"states": [[id_, None] for id_ in parameters["ids"]]},
    "remember.begun": lambda parameters: {"ids": [[] for _ in parameters["prefixes"]]},
    "ingest.memories": lambda parameters: {"written": len(parameters["rows"])},
}
#: A query that takes and returns nothing of note.
TRIVIAL = parse(
    "// name: test.one\n// mode: read\n// params:\n// returns: x INTEGER\nRETURN 1 AS x", "test.one"
)
_BY_TEXT = {
    query.text: query
    for path in root().rglob("*.cypher")
    if not path.name.startswith("schema") and path.parent.name != "_shared"
    for query in [load(".".join(path.relative_to(root()).with_suffix("").parts))]
} | {TRIVIAL.text: TRIVIAL}


class StubDriver:
    """Stands in for the driver: each query is answered at once."""

    def __init__(self, on_query: Callable[[str], None]) -> None:
        self.on_query = on_query

    def session(self, **_: object) -> StubSession:
        """Open a session."""
        return StubSession(self.on_query)


class StubSession:
    """A session, and the one transaction that it may have."""

    def __init__(self, on_query: Callable[[str], None]) -> None:
        self.on_query = on_query

    async def run(self, statement: Any, **parameters: Any) -> StubResult:
        """Answer a query."""
        query = _BY_TEXT[getattr(statement, "text", statement)]
        self.on_query(query.name)
        answer = _ANSWERS.get(query.name)
        given = {} if answer is None else answer(parameters["p"])
        empty = {
            column.name: next((v for t, v in _EMPTY.items() if t in column_type(column)), None)
            for column in query.returns
        }
        record = neo4j.Record({**empty, **given})  # type: ignore[no-untyped-call]
        return StubResult(record)

    async def begin_transaction(self, **_: object) -> Self:
        """Begin a transaction."""
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def commit(self) -> None:
        """Commit."""

    async def close(self) -> None:
        """Close."""

    def cancel(self) -> None:
        """Drop the connection."""


def column_type(column: Any) -> frozenset[str]:
    """Return the names of the types of a column, as a query file gives them."""
    names = {bool: "BOOLEAN", int: "INTEGER", float: "FLOAT", str: "STRING", list: "LIST"}
    return frozenset(names[each] for each in column.types if each in names)


class StubResult:
    """The one record of an answer."""

    def __init__(self, record: neo4j.Record) -> None:
        self.record = record

    def keys(self) -> Sequence[str]:
        """Return the names of the columns."""
        return list(self.record.keys())

    async def __aiter__(self) -> AsyncIterator[neo4j.Record]:
        yield self.record


@dataclass
class Counts:
    """What a call went through.

    Attributes
    ----------
    calls
        Calls of memoria's code.
    functions
        Distinct functions of it.
    frames
        Most frames between the first call and the driver; by query the names of the functions.
    queries
        Names of the queries, in their order.
    """

    calls: int = 0
    functions: set[CodeType] = field(default_factory=set)
    frames: dict[str, list[str]] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)

    @property
    def files(self) -> set[str]:
        """The files of memoria that were run."""
        return {code.co_filename.removeprefix(_HOME + "/") for code in self.functions}

    @property
    def deepest(self) -> list[str]:
        """The longest way to the driver."""
        return max(self.frames.values(), key=len, default=[])


def _is_own(frame: FrameType) -> bool:
    """Tell whether a frame is a function of memoria; newer versions of Python inline the others."""
    code = frame.f_code
    return code.co_filename.startswith(_HOME) and not code.co_name.startswith("<")


def _own_frames(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        if _is_own(frame):
            yield frame.f_code.co_qualname
        frame = frame.f_back


class Counter:
    """Counts one call at a time."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.store = Store(StubDriver(self._queried))  # type: ignore[arg-type]
        self.store.facts.put(
            ServerFacts(
                version="2026.08.1",
                edition="community",
                vector_dialect="search",
                dimensions=384,
                embedder=None,
                indexes=dict.fromkeys(_INDEXES, "ONLINE"),
            )
        )
        self._above: dict[asyncio.Task[Any], list[str]] = {}
        self._seen: set[FrameType] = set()  # keeps them, so that no two are one object

    async def of(self, call: Callable[[], Awaitable[object]]) -> Counts:
        """Count a call; it is made three times before, as the first one loads queries and more."""
        loop = asyncio.get_running_loop()
        self.counts = Counts()
        for _ in range(3):
            await call()
        self.counts = Counts()
        loop.set_task_factory(self._task)
        sys.setprofile(self._profile)
        try:
            await call()
        finally:
            sys.setprofile(None)
            loop.set_task_factory(None)
            self._seen.clear()
            self._above.clear()
        return self.counts

    def _profile(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and _is_own(frame) and frame not in self._seen:
            self._seen.add(frame)
            self.counts.calls += 1
            self.counts.functions.add(frame.f_code)

    def _task(self, loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> Any:
        task = asyncio.Task(coro, loop=loop, **options)
        self._above[task] = self._logical()
        return task

    def _logical(self) -> list[str]:
        """Return the frames of memoria from the first call to here, over all tasks."""
        task = asyncio.current_task()
        above = [] if task is None else self._above.get(task, [])
        return [*above, *reversed([*_own_frames(sys._getframe(1))])]

    def _queried(self, name: str) -> None:
        self.counts.queries.append(name)
        way = self._logical()
        if len(way) > len(self.counts.frames.get(name, [])):
            self.counts.frames[name] = way


async def count_all() -> dict[str, Counts]:
    """Count a trivial query, a recall of a chain of three, and the append of one message."""
    telemetry.INSTALLED = False
    counter = Counter()
    retriever = memoria.GraphRetriever(counter.store, scope=_SCOPE)
    writer = retriever.conversations()
    return {
        "trivial query": await counter.of(lambda: counter.store.run(TRIVIAL, {})),
        "recall": await counter.of(lambda: retriever.recall("What of a?")),
        "append": await counter.of(
            lambda: writer.append("c", [Message(text="The Kestrel bridge opens in May.")])
        ),
    }


def main(arguments: Sequence[str]) -> None:
    """Print a table; with ``--ways`` the longest way to the driver of each query, too."""
    parser = argparse.ArgumentParser(prog="scripts/bench calls", description=__doc__)
    parser.add_argument("--ways", action="store_true", help="print the frames and the files, too")
    options = parser.parse_args(arguments)
    counted = asyncio.run(count_all())
    print("| walk | calls | functions | files | frames to the driver | queries |")
    print("|---|---|---|---|---|---|")
    for name, counts in counted.items():
        print(
            f"| {name} | {counts.calls} | {len(counts.functions)} | {len(counts.files)} "
            f"| {len(counts.deepest)} | {', '.join(counts.queries)} |"
        )
    if options.ways:
        for name, counts in counted.items():
            print(f"\n{name}: {', '.join(sorted(counts.files))}")
            for query, way in counts.frames.items():
                print(f"  {query} ({len(way)}): {' > '.join(way)}")
