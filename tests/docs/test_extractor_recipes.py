"""The recipes for extractors that ask a model, run on stand-ins with the interface of the model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.docs.blocks import read_blocks
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "conversations.md"
TEXT = "Greta Hansen has the key"


def recipe(
    module: str, monkeypatch: pytest.MonkeyPatch, **names: Any
) -> Callable[[str], list[str]]:
    """The function that a recipe makes of a module."""
    stand_in = ModuleType(module)
    vars(stand_in).update(names)
    monkeypatch.setitem(sys.modules, module, stand_in)
    (block,) = [
        b
        for b in read_blocks(PAGE)
        if f"{module} import" in b.code or b.code.startswith(f"import {module}")
    ]
    made: dict[str, Any] = {}
    exec(block.code, made)  # the page's own code
    found: Callable[[str], list[str]] = made["find_entities"]
    return found


def test_the_recipe_for_spacy_returns_the_texts_of_entities(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(name: str) -> Callable[[str], SimpleNamespace]:
        assert name == "en_core_web_sm"
        found = [("Greta Hansen", "PERSON"), ("today", "DATE"), ("two", "CARDINAL")]
        entities = [SimpleNamespace(text=text, label_=label) for text, label in found]
        return lambda _: SimpleNamespace(ents=entities)

    assert recipe("spacy", monkeypatch, load=load)(TEXT) == ["Greta Hansen"]


def test_the_recipe_for_gliner_returns_the_texts_of_entities(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Model:
        @classmethod
        def from_pretrained(cls, name: str) -> Model:
            assert name.startswith("urchade/")
            return cls()

        def predict_entities(
            self, text: str, labels: list[str], threshold: float = 0.5
        ) -> list[dict[str, Any]]:
            assert labels
            assert 0 < threshold < 1
            return [{"start": 0, "end": 12, "text": text[:12], "label": labels[0], "score": 0.9}]

    assert recipe("gliner", monkeypatch, GLiNER=Model)(TEXT) == ["Greta Hansen"]
