"""Grammar of messages: articles, and the number of things."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from memoria._support.checks import check_string
from memoria._support.wording import kind_of, number_of
from memoria.errors import ConfigError, InvalidInputError
from memoria.ingest.checks import missing_error
from memoria.types import Memory
from tests.for_each import for_each


@for_each(
    "value, expected",
    [
        (None, "nothing"),
        (1, "an int"),
        ("x", "a str"),
        ({}, "a dict"),
        (object(), "an object"),
        (uuid.UUID(int=0), "a UUID"),
        (uuid, "a module"),
        (len, "a builtin_function_or_method"),
        (ConfigError("x"), "a ConfigError"),
        (InvalidInputError("x"), "an InvalidInputError"),
    ],
)
def test_a_value_is_named_by_its_type_with_the_article(value: Any, expected: str) -> None:
    assert kind_of(value) == expected


@pytest.mark.parametrize(
    ("number", "words", "expected"),
    [
        (1, ("memory", "memories"), "1 memory"),
        (2, ("memory", "memories"), "2 memories"),
        (0, ("id",), "0 ids"),
        (1, ("id",), "1 id"),
    ],
)
def test_one_thing_is_counted_as_one(number: int, words: Any, expected: str) -> None:
    assert number_of(number, *words) == expected


def test_messages_are_built_with_these() -> None:
    with pytest.raises(InvalidInputError, match="must be a string, got an int"):
        check_string(1, "text")
    with pytest.raises(
        InvalidInputError, match=r"metadata\['x'\] holds an object, which is not JSON"
    ):
        Memory(id="a", kind="Event", text="t", metadata={"x": object()})
    one, two = missing_error(["a"], "s"), missing_error(["a", "b"], "s")
    assert str(one).startswith("edges name 1 memory that is not in scope 's': 'a'; ")
    assert str(two).startswith("edges name 2 memories that are not in scope 's': 'a', 'b'; ")
