"""The examples in docstrings are right, wherever they stand."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import memoria

PACKAGE = Path(memoria.__file__).parent


def name_of(path: Path) -> str:
    return ".".join(("memoria", *path.relative_to(PACKAGE).with_suffix("").parts))


WITH_EXAMPLES = {
    name_of(path).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
}
FORMULAS = {name_of(path) for path in (PACKAGE / "model").glob("*.py")} - {
    "memoria.formulas.__init__"
}


@pytest.mark.parametrize("name", sorted(WITH_EXAMPLES))
def test_examples_in_docstrings_are_right(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


def test_every_file_of_formulas_has_an_example() -> None:
    assert len(FORMULAS) >= 9
    assert FORMULAS <= WITH_EXAMPLES
