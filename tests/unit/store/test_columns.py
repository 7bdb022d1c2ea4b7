"""Columns of queries: which values are of their types."""

from __future__ import annotations

from typing import Any

from neo4j.time import DateTime

from memoria.store.queries import Column
from tests.for_each import for_each

TIME = DateTime(2026, 1, 1)


@for_each(
    "column, right, wrong",
    [
        ("x", [None, 5, "a", [], {}], []),
        ("x INTEGER", [0, 5, -1], [None, True, 5.0, "5", [5]]),
        ("x FLOAT", [0.0, 0.5], [None, 1, "0.5"]),
        ("x INTEGER | FLOAT", [1, 0.5], [None, True, "1"]),
        ("x BOOLEAN", [True, False], [None, 0, 1, "true"]),
        ("x STRING", ["", "a"], [None, 5, b"a", ["a"]]),
        ("x STRING | NULL", ["a", None], [5, []]),
        ("x MAP", [{}, {"a": 1}], [None, [], 5]),
        ("x ZONED DATETIME | NULL", [TIME, None], ["2026-01-01", 5]),
        ("x LIST", [[], [5], [None]], [None, 5, "abc", {}]),
        ("x LIST<STRING>", [[], ["a"]], [None, 5, [5], ["a", None], [["a"]]]),
        ("x LIST<LIST> | NULL", [[], [[]], None], [[5], ["a"], [None], {}]),
        ("x LIST<STRING | NULL>", [["a", None]], [None, [5]]),
    ],
)
def test_a_column_takes_values_of_its_types_and_no_others(
    column: str, right: list[Any], wrong: list[Any]
) -> None:
    parsed = Column.parse(column)
    assert parsed.name == "x"
    assert [value for value in right if not parsed.takes(value)] == []
    assert [value for value in wrong if parsed.takes(value)] == []
