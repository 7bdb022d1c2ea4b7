"""Four queries return memories, Cypher has no way to share the columns: they must be the same."""

from __future__ import annotations

import re

import pytest

from memoria.store.queries import load


def columns(name: str, variable: str) -> str:
    """The list of columns that a query returns of a memory, under the name ``m``."""
    text = re.sub(r"\s+", " ", load(name).text)
    text = re.sub(rf"\b{variable}\.", "m.", text).replace(f"labels({variable})", "labels(m)")
    match = re.search(
        r"\[ ?(?:m\.)?id, labels\(m\), .*? m\.metadata, CASE .*?m\.valid_until\) END ?\]", text
    )
    assert match is not None
    return re.sub(r"^\[ ?(m\.)?id", "[id", match[0]).replace(" ]", "]")


@pytest.mark.parametrize(
    ("name", "variable"),
    [("ranking.candidates", "m"), ("strategies.level", "current"), ("strategies.levels", "m")],
)
def test_memories_have_the_columns_of_hydrate(name: str, variable: str) -> None:
    assert columns(name, variable) == columns("graph.hydrate", "m")
