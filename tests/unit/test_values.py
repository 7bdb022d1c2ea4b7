"""Values of any kind in the fields of public types: each is taken, or refused by a typed error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.faults.values import odd_values, slots
from memoria.errors import MemoriaError


@pytest.mark.parametrize(
    ("kind", "needed", "field"), slots(), ids=lambda value: getattr(value, "__name__", None)
)
def test_a_value_of_any_kind_is_taken_or_refused(
    kind: type, needed: Mapping[str, Any], field: str
) -> None:
    for value in odd_values():
        try:
            kind(**{**needed, field: value})
        except MemoriaError:
            continue
