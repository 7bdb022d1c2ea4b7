"""The examples in docstrings are right, and dataclasses document the fields that they have."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import memoria
from memoria import types
from scripts.docs_pages import attributes
from tests.for_each import for_each

PACKAGE = Path(memoria.__file__).parent


def name_of(path: Path) -> str:
    return ".".join(("memoria", *path.relative_to(PACKAGE).with_suffix("").parts))


WITH_EXAMPLES = {
    name_of(path).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
}
FORMULAS = {name_of(path) for path in (PACKAGE / "formulas").glob("*.py")} - {
    "memoria.formulas.__init__"
}

MODULES = [
    import_module(name_of(path).removesuffix(".__init__"))
    for path in sorted(PACKAGE.rglob("*.py"))
    if "@dataclass" in path.read_text(encoding="utf-8")
]
DATACLASSES = [
    kind
    for module in MODULES
    for kind in vars(module).values()
    if inspect.isclass(kind) and kind.__module__ == module.__name__
    if dataclasses.is_dataclass(kind)
]
EXPORTED = {*memoria.__all__, *types.__all__}


def documented(kind: Any) -> set[str]:
    """Names in the ``Attributes`` sections of a class and of those that it inherits from."""
    return {name for base in kind.__mro__ if base.__doc__ for name in attributes(base)}


@for_each("name", sorted(WITH_EXAMPLES))
def test_examples_in_docstrings_are_right(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


def test_every_file_of_formulas_has_an_example() -> None:
    assert len(FORMULAS) >= 9
    assert FORMULAS <= WITH_EXAMPLES


def fields_of(kind: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


def test_a_dataclass_documents_only_fields_that_it_has() -> None:
    unknown = {kind.__qualname__: documented(kind) - fields_of(kind) for kind in DATACLASSES}
    assert {name: fields for name, fields in unknown.items() if fields} == {}


def test_settings_and_public_dataclasses_document_every_field() -> None:
    kinds = [kind for kind in DATACLASSES if kind.__name__ in EXPORTED or "Config" in kind.__name__]
    assert len(kinds) > 60
    missing = {kind.__qualname__: fields_of(kind) - documented(kind) for kind in kinds}
    assert {name: fields for name, fields in missing.items() if fields} == {}
