"""The examples in the docstrings of the helpers beside this file, and of the pages' maker."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from scripts import docs_pages
from tests.docs import blocks, hosted_model, markdown


@pytest.mark.parametrize("module", [blocks, docs_pages, hosted_model, markdown])
def test_examples_are_true(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
