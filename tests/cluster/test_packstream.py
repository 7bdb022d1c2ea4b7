"""Values as the specification of PackStream writes them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.cluster.packstream import Structure, packed, unpacked
from tests.for_each import for_each

LEAVES = (
    some.none()
    | some.booleans()
    | some.integers(-(2**63), 2**63 - 1)
    | some.floats(allow_nan=False)
    | some.text(max_size=40)
    | some.binary(max_size=40)
)
VALUES = some.recursive(
    LEAVES,
    lambda inner: (
        some.lists(inner, max_size=20)
        | some.dictionaries(some.text(max_size=5), inner, max_size=20)
    ),
    max_leaves=40,
)


@for_each(
    "data, value",
    [
        ("c0", None),
        ("c3", True),
        ("2a", 42),
        ("f0", -16),
        ("c8d6", -42),
        ("c904d2", 1234),
        ("ca000f4240", 1_000_000),
        ("c1400921fb54442d18", 3.141592653589793),
        ("8568656c6c6f", "hello"),
        ("d01a" + b"abcdefghijklmnopqrstuvwxyz".hex(), "abcdefghijklmnopqrstuvwxyz"),
        ("93010203", [1, 2, 3]),
        ("a1836f6e650" + "1", {"one": 1}),
        ("cc03010203", b"\x01\x02\x03"),
        ("b17183616263", Structure(0x71, ("abc",))),
    ],
)
def test_the_examples_of_the_specification_are_read(data: str, value: Any) -> None:
    assert unpacked(bytes.fromhex(data)) == value


@given(VALUES)
def test_what_is_written_is_read(value: Any) -> None:
    assert unpacked(packed(Structure(0x10, (value,)))).fields == (value,)


@pytest.mark.parametrize("data", ["", "85", "d0", "c7", "93" + "01"])
def test_bytes_that_end_early_or_mean_nothing_are_refused(data: str) -> None:
    with pytest.raises(ValueError, match="not PackStream"):
        unpacked(bytes.fromhex(data))
