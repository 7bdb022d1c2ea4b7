"""Everything async has a twin in `memoria.sync`, with the same parameters."""

from __future__ import annotations

import inspect
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import memoria
import memoria.sync
from memoria._support.loop_thread import LoopThread
from memoria.ingest.joint import JointWriter
from tests.for_each import for_each

# What has no twin, and why.
WITHOUT = {
    "Store.session": "a session belongs to one task",
    "Store.translated": "connect and open take the mapping",
}
# Inside the loop as outside it: what `connect` is given, and what it has no part in.
GIVEN = {"CachedEmbedder", "CallableEmbedder", "Embedder", "OnnxEmbedder"} | {
    "SentenceTransformerEmbedder"
}
OTHER_NAMES = {"aclose": "close", "__anext__": "__next__"}


def is_async(member: Any) -> bool:
    return inspect.iscoroutinefunction(member) or inspect.isasyncgenfunction(member)


def public_methods(kind: type) -> dict[str, Callable[..., Any]]:
    return {
        name: member
        for name, member in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") or name == "__anext__"
    }


ASYNC_CLASSES = {
    name: kind
    for name in memoria.__all__
    if inspect.isclass(kind := getattr(memoria, name))
    and any(is_async(method) for method in public_methods(kind).values())
}
ASYNC_FUNCTIONS = {
    name: function
    for name in (*memoria.__all__, "open")
    if is_async(function := getattr(memoria, name))
}


def pairs() -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Name of each async method or function, itself, and where its twin should be."""
    for name, function in ASYNC_FUNCTIONS.items():
        yield name, function, name
    for class_name, kind in ASYNC_CLASSES.items():
        if class_name not in GIVEN:
            for name, method in public_methods(kind).items():
                twin = f"{class_name}.{OTHER_NAMES.get(name, name)}"
                yield f"{class_name}.{name}", method, twin


PAIRS = [pair for pair in pairs() if pair[0] not in WITHOUT]


def found(path: str) -> Any:
    value: Any = memoria.sync
    for name in path.split("."):
        value = vars(value).get(name)
        if value is None:
            return None
    return value


def shape(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    """Names, kinds and defaults of parameters."""
    parameters = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in parameters]


def test_the_async_classes_and_functions_are_seen() -> None:
    seen = {"GraphRetriever", "GraphWriter", "Learner", "Linker", "Store", "Stream"}
    assert seen <= set(ASYNC_CLASSES) - GIVEN
    assert set(ASYNC_CLASSES) >= GIVEN
    assert set(ASYNC_FUNCTIONS) == {
        *("apply_schema", "open", "replay"),
        *("finish_reembedding", "reembed", "roll_back_reembedding"),
    }
    assert len(PAIRS) > 30
    assert set(WITHOUT) <= {name for name, _, _ in pairs()}


@for_each("name, method, twin", PAIRS)
def test_everything_async_has_a_twin_with_the_same_parameters(
    name: str, method: Callable[..., Any], twin: str
) -> None:
    here = found(twin)
    line = f"{name.split('.')[-1]} = blocking(memoria.{name})"
    assert here is not None, f"memoria.sync has no twin of {name}: add `{line}`, or `streaming`"
    assert not is_async(here)
    assert shape(here) == shape(method)


def test_connect_has_the_parameters_of_the_async_one() -> None:
    assert shape(memoria.sync.connect) == shape(memoria.connect)
    assert inspect.signature(memoria.sync.connect).return_annotation == "GraphRetriever"
    assert inspect.signature(memoria.open).return_annotation == "GraphRetriever"


def test_a_twin_has_the_docstring_of_its_method() -> None:
    twin = memoria.sync.GraphRetriever.recall
    assert inspect.getdoc(twin) == inspect.getdoc(memoria.GraphRetriever.recall)
    assert twin.__name__ == "recall"


class Following:
    """A store that notes in which thread it was told to follow bookmarks."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None

    def follow(self, bookmarks: object) -> None:
        self.thread = threading.current_thread()
        if bookmarks == "one":
            raise memoria.InvalidInputError("bookmarks must be a list")


def test_bookmarks_are_followed_in_the_loop_whose_queries_change_them() -> None:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Following]:
        yield Following()

    thread = LoopThread(opened())
    behind: Any = thread.resource
    store = memoria.sync.Store(behind, thread)
    store.follow(["a"])
    assert behind.thread not in (None, threading.current_thread())
    with pytest.raises(memoria.InvalidInputError):
        store.follow("one")
    thread.close()


def test_a_star_import_leaves_the_builtin_open_alone() -> None:
    for module in ("memoria", "memoria.sync"):
        names: dict[str, Any] = {}
        exec(f"from {module} import *", names)
        assert "open" not in names
        assert "connect" in names


def test_the_names_listed_are_there() -> None:
    assert all(hasattr(memoria.sync, name) for name in memoria.sync.__all__)
    assert list(memoria.sync.__all__) == sorted(memoria.sync.__all__)


def test_importing_memoria_neither_loads_sync_nor_starts_a_thread() -> None:
    code = (
        "import sys, threading, memoria\n"
        "assert 'memoria.sync' not in sys.modules\n"
        "import memoria.sync\n"
        "assert threading.active_count() == 1"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("writer", [memoria.GraphWriter, memoria.sync.GraphWriter])
def test_what_only_the_writers_of_texts_call_is_not_on_the_public_writer(writer: type) -> None:
    names = {"commit", "prepare", "make_vectors"}
    assert names <= set(dir(JointWriter))
    assert not names & set(dir(writer))
