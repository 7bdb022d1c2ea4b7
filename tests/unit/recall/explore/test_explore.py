"""Explorations over a store that answers as told: what is handed over, and what a failure means."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from memoria.errors import DeadlineError, MemoriaError, QueryError, UnavailableError
from memoria.recall.explore import ExploreRequest, HydrateAt, Listener, explore
from memoria.recall.strategies import RunInput, TransferEnergy
from memoria.recall.together import explore_each
from memoria.store.queries import Query
from memoria.types import Exploration, Path, Seed
from tests.clock import without_waiting

_Rows = list[list[Any]]


async def _at_once(_: Mapping[str, Any]) -> None:
    """Hold nothing up."""


class Graph:
    """Stands in for the store: a tree of memories, each edge of weight 0.5 and no tags.

    ``before_level`` and ``before_texts`` see the parameters of a query first; they may wait, or
    raise the error that the query fails with.
    """

    def __init__(
        self,
        children: Mapping[str, str],
        *,
        before_level: Callable[[Mapping[str, Any]], Awaitable[None]] = _at_once,
        before_texts: Callable[[Mapping[str, Any]], Awaitable[None]] = _at_once,
    ) -> None:
        self.children = children
        self.before_level = before_level
        self.before_texts = before_texts

    @asynccontextmanager
    async def session(self, *, until: float) -> AsyncIterator[Graph]:
        assert until
        yield self

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[dict[str, _Rows]]:
        if query.name == "graph.hydrate":
            assert until
            await self.before_texts(parameters)
            return [{"memories": [_memory(id_) for id_ in parameters["ids"]]}]
        assert query.name == "strategies.level"
        await self.before_level(parameters)
        frontier = parameters["frontier"]
        level = [self._row(owner, id_, energy) for owner, id_, energy, _ in frontier]
        return [{"level": level, "memories": [_memory(row[1]) for row in frontier]}]

    def _row(self, owner: int, id_: str, energy: float) -> list[Any]:
        found = [[child, -energy / 2, "", "out", [], 0.5, 1.0] for child in self.children[id_]]
        return [owner, id_, 1, bool(found), found]


def _memory(id_: str) -> list[Any]:
    return [id_, ["Memory", "Event"], f"text of {id_}", *([None] * 8)]


class Results:
    """Takes what explorations deliver."""

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.explorations: dict[str, Exploration] = {}

    @property
    def status(self) -> dict[str, tuple[str, MemoriaError | None]]:
        return {seed: (each.status, each.error) for seed, each in self.explorations.items()}

    @property
    def texts(self) -> dict[str, list[str]]:
        """Ids of each path -> the ids of its memories that have a text."""
        return {"".join(path.ids): [node.id for node in path.memories] for path in self.paths}


async def explored(
    graph: Graph,
    *seeds: str,
    hydrate_at: HydrateAt | None = "branch_end",
    max_depth: int = 1,
    seeds_per_session: int | None = None,
    deadline_s: float = 60.0,
) -> Results:
    results = Results()

    def on_exploration(exploration: Exploration) -> None:
        results.explorations[exploration.seed.id] = exploration

    now = asyncio.get_running_loop().time()
    request = ExploreRequest(
        strategy=TransferEnergy(max_depth=max_depth),
        input=RunInput(
            seeds=tuple(Seed(id=seed, score=1.0) for seed in seeds), scope="s", query_tags=()
        ),
        started=now,
        until=now + deadline_s,
        hydrate_at=hydrate_at,
        seeds_per_session=seeds_per_session,
    )
    listener = Listener(on_exploration=on_exploration, on_path=results.paths.append)
    await explore(graph, request, listener)  # type: ignore[arg-type]
    handed_over = sorted(path.ids for path in results.paths)
    reported = [path.ids for each in results.explorations.values() for path in each.paths]
    assert handed_over == sorted(reported)
    return results


def failing(error: MemoriaError, memory: str | None = None) -> Callable[..., Awaitable[None]]:
    """A query fails, or only a query of texts that asks for this memory."""

    async def before(parameters: Mapping[str, Any]) -> None:
        if memory is None or memory in parameters["ids"]:
            raise error

    return before


async def test_paths_for_a_caller_who_reads_texts_come_with_those_that_the_levels_brought() -> None:
    found = await explored(Graph({"a": "bc"}), "a", hydrate_at=None)
    assert found.status == {"a": ("complete", None)}
    assert found.texts == {"ab": ["a"], "ac": ["a"]}
    assert [path.ids for path in found.paths] == [("a", "b"), ("a", "c")]


async def test_texts_that_can_not_be_read_fail_the_exploration_that_needs_them() -> None:
    error = UnavailableError("the server went away", query="graph.hydrate")
    graph = Graph({"a": "b", "k": ""}, before_texts=failing(error))
    found = await explored(graph, "a", "k")
    assert found.status == {"a": ("failed", error), "k": ("complete", None)}
    assert found.texts == {"ab": [], "k": ["k"]}, "the path is kept, without texts"


@without_waiting
async def test_texts_that_are_late_cut_the_exploration_that_needs_them() -> None:
    async def too_long(_: Mapping[str, Any]) -> None:
        await asyncio.sleep(0.2)
        raise DeadlineError("graph.hydrate took longer than 0.1 s", query="graph.hydrate")

    found = await explored(Graph({"a": "b"}, before_texts=too_long), "a", deadline_s=0.1)
    assert found.status == {"a": ("truncated", None)}
    assert found.texts == {"ab": []}


async def forever(_: Mapping[str, Any]) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("seeds_per_session", [None, 1])
@pytest.mark.parametrize(
    ("hydrate_at", "texts"), [("branch_end", []), ("exploration_end", []), (None, ["a"])]
)
@without_waiting
async def test_a_level_that_never_ends_leaves_the_paths_of_the_levels_before(
    hydrate_at: HydrateAt | None, texts: list[str], seeds_per_session: int | None
) -> None:
    async def before_level(parameters: Mapping[str, Any]) -> None:
        if any(id_ == "b" for _, id_, *_ in parameters["frontier"]):
            await forever(parameters)

    graph = Graph({"a": "b", "b": "", "k": ""}, before_level=before_level)
    found = await explored(
        graph,
        "a",
        "k",
        hydrate_at=hydrate_at,
        max_depth=2,
        seeds_per_session=seeds_per_session,
        deadline_s=0.1,
    )
    assert found.status["a"] == ("truncated", None)
    assert found.texts == {"ab": texts, "k": ["k"]}
    assert {path.ids: path.end_reason for path in found.paths}["a", "b"] == "truncated"


@without_waiting
async def test_texts_that_never_come_leave_the_paths_without_them() -> None:
    found = await explored(Graph({"a": "b"}, before_texts=forever), "a", deadline_s=0.1)
    assert found.status == {"a": ("truncated", None)}
    assert found.texts == {"ab": []}


@without_waiting
async def test_explorations_that_go_on_alone_and_never_end_are_cut() -> None:
    failed = UnavailableError("the server went away", query="strategies.level")

    async def before_level(parameters: Mapping[str, Any]) -> None:
        if len(parameters["frontier"]) == 2:
            raise failed
        await forever(parameters)

    graph = Graph({"a": "", "k": ""}, before_level=before_level)
    found = await explored(graph, "a", "k", deadline_s=0.1)
    assert found.status == dict.fromkeys("ak", ("truncated", None))


async def test_first_of_two_errors_is_the_one_that_is_reported() -> None:
    first = QueryError("division by zero", query="strategies.level")
    later = UnavailableError("the server went away", query="graph.hydrate")

    async def before_level(parameters: Mapping[str, Any]) -> None:
        if parameters["frontier"][0][1] == "b":
            raise first

    graph = Graph({"a": "b"}, before_level=before_level, before_texts=failing(later))
    found = await explored(graph, "a", max_depth=2)
    assert found.status == {"a": ("failed", first)}


async def test_a_server_that_is_away_is_not_asked_for_texts_once_its_retries_are_used_up() -> None:
    asked: list[Mapping[str, Any]] = []

    async def away(_: Mapping[str, Any]) -> None:
        raise UnavailableError("away")

    async def note(parameters: Mapping[str, Any]) -> None:
        asked.append(parameters)

    results = await explored(Graph({"a": ""}, before_level=away, before_texts=note), "a")
    [(status, error)] = results.status.values()
    assert status == "failed"
    assert isinstance(error, UnavailableError)
    assert asked == []


async def test_text_that_another_exploration_brought_meanwhile_is_not_missed() -> None:
    """a ends at b, whose text can't be read; k stands on b at the same time, and brings it."""
    asked, brought = asyncio.Event(), asyncio.Event()
    error = UnavailableError("the server went away", query="graph.hydrate")

    async def before_level(parameters: Mapping[str, Any]) -> None:
        if parameters["frontier"][0][1] == "b":
            await asked.wait()

    async def before_texts(parameters: Mapping[str, Any]) -> None:
        if parameters["ids"] == ["c"]:
            brought.set()  # the level that ends at c has expanded b
        else:
            asked.set()
            await brought.wait()
            raise error

    graph = Graph(
        {"a": "z", "z": "b", "k": "b", "b": "c"},
        before_level=before_level,
        before_texts=before_texts,
    )
    found = await explored(graph, "a", "k", max_depth=2, seeds_per_session=1)
    assert found.status["a"] == ("complete", None)
    assert found.texts["azb"] == ["a", "z", "b"]


@pytest.mark.parametrize("hydrate_at", ["branch_end", "exploration_end", None])
async def test_seeds_that_go_on_alone_after_a_shared_failure_deliver_as_before(
    hydrate_at: HydrateAt | None,
) -> None:
    async def before_level(parameters: Mapping[str, Any]) -> None:
        if len(parameters["visited"]) > 1:
            raise UnavailableError("too much at once", query="strategies.level")

    graph = Graph({"a": "b", "k": "l"}, before_level=before_level)
    found = await explored(graph, "a", "k", hydrate_at=hydrate_at)
    assert found.status == {"a": ("complete", None), "k": ("complete", None)}
    assert sorted(found.texts) == ["ab", "kl"]


async def test_explorations_of_other_scopes_are_over_when_an_error_is_raised() -> None:
    over: list[str] = []

    async def before_level(parameters: Mapping[str, Any]) -> None:
        [[_, id_, *_]] = parameters["frontier"]
        if id_ == "a":
            raise ValueError("a strategy of the user's own fails")
        await asyncio.sleep(0.01)
        over.append(id_)

    now = asyncio.get_running_loop().time()
    requests = {
        scope: ExploreRequest(
            strategy=TransferEnergy(max_depth=1),
            input=RunInput(
                seeds=(Seed(id=id_, score=1.0, scope=scope),), scope=scope, query_tags=()
            ),
            started=now,
            until=now + 60.0,
        )
        for scope, id_ in (("s", "a"), ("t", "b"))
    }
    store: Any = Graph({"a": "", "b": ""}, before_level=before_level)
    with pytest.raises(ExceptionGroup):
        await explore_each(store, requests, Listener(on_exploration=lambda _: None))
    assert over == ["b"]
