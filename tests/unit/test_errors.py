"""The error tree is what its docstring draws, and says who may try again."""

from __future__ import annotations

import copy
import inspect
import pickle
import re

from memoria import errors
from memoria.errors import InvalidInputError, MemoriaError
from tests.for_each import for_each

CLASSES: dict[str, type[MemoriaError]] = {
    name: value
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, MemoriaError)
}
RETRYABLE = {"UnavailableError", "OverloadedError"}


def drawn_parents() -> dict[str, str]:
    """Class -> parent, as the docstring draws them."""
    parents: dict[str, str] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r" {4}((?:[│ ] {3})*)(?:[├└]── )?([A-Z]\w+)(?:\s{2,}|$)", line):
            depth = len(match[1]) // 4 + ("── " in line)
            del above[depth:]
            if above:
                parents[match[2]] = above[-1]
            above.append(match[2])
    return parents


def test_drawn_tree_is_the_real_tree() -> None:
    real = {name: kind.__bases__[0].__name__ for name, kind in CLASSES.items()}
    assert drawn_parents() == {name: base for name, base in real.items() if base != "Exception"}
    assert [name for name, base in real.items() if base == "Exception"] == ["MemoriaError"]


def test_drawing_marks_those_that_may_be_tried_again() -> None:
    marked = re.findall(r"(\w+Error) .*\(retryable\)", errors.__doc__ or "")
    assert set(marked) == RETRYABLE


@for_each("name", sorted(CLASSES))
def test_only_unavailable_and_overloaded_may_be_tried_again(name: str) -> None:
    assert CLASSES[name].retryable is (name in RETRYABLE)


@for_each("name", sorted(CLASSES))
def test_error_carries_the_name_of_its_query(name: str) -> None:
    error = CLASSES[name]("what to do", query="strategies.level")
    assert str(error) == "what to do"
    assert error.query == "strategies.level"
    assert CLASSES[name]("what to do").query is None


@for_each("name", sorted(CLASSES))
def test_error_has_a_docstring(name: str) -> None:
    assert CLASSES[name].__doc__


@for_each("name", sorted(CLASSES))
def test_error_survives_a_process_boundary(name: str) -> None:
    error = CLASSES[name]("what to do", query="strategies.level")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert str(twin) == "what to do"
        assert twin.query == "strategies.level"


def test_input_error_names_its_field() -> None:
    assert InvalidInputError("wrong", field="tags").field == "tags"
    assert InvalidInputError("wrong").field is None


def test_every_error_is_caught_as_memoria_error() -> None:
    assert all(issubclass(kind, MemoriaError) for kind in CLASSES.values())
