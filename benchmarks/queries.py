"""The own query texts of the benchmarks, from ``cypher/`` beside this file.

In: a name. Out: the text. Reads files. They are other people's queries, so their parameters are
theirs, too, and `memoria.store.queries` does not load them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import LiteralString, cast

_FOLDER = Path(__file__).parent / "cypher"


@cache
def text_of(name: str) -> LiteralString:
    """Text of a query, without its comments."""
    lines = (_FOLDER / f"{name}.cypher").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.lstrip().startswith("//")]
    return cast(LiteralString, "\n".join(kept).strip())  # type: ignore[redundant-cast]  # as there
