"""Values of any kind in the fields of public types: each is taken, or refused by a typed error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.faults.values import odd_values, slots
from memoria.errors import MemoriaError
from tests.for_each import for_each


@for_each("kind, needed, field", slots())
def test_a_value_of_any_kind_is_taken_or_refused(
    kind: type, needed: Mapping[str, Any], field: str
) -> None:
    for value in odd_values():
        try:
            kind(**{**needed, field: value})
        except MemoriaError:
            continue
