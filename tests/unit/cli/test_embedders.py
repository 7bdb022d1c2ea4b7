"""What ``--embedder`` may name, and what it says where it can't be used."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from memoria._support.extras import install_command
from memoria.cli.embedders import embedder_named, recorded_embedder
from memoria.embed import DEFAULT_ONNX_MODEL, OnnxEmbedder
from memoria.errors import ConfigError
from tests.for_each import for_each

MODULE = """
import memoria

def embed(texts):
    return [[1.0, 2.0] for _ in texts]

model = memoria.CallableEmbedder(embed, dimensions=2, name="mine")

def factory():
    return model

class Own:
    name, dimensions = "own", 2

    async def embed_documents(self, texts):
        return embed(texts)

    async def embed_query(self, text):
        return [1.0, 2.0]

number = 3

def nothing():
    return None

def fails():
    raise RuntimeError("no key")

def refuses():
    raise memoria.ConfigError("set the key")
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with modules, in which the command runs."""
    (tmp_path / "own_embedders.py").write_text(MODULE)
    (tmp_path / "broken_embedders.py").write_text("1 / 0")
    (tmp_path / "needy_embedders.py").write_text("import a_package_that_is_missing")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "model"), [("model", "mine"), ("factory", "mine"), ("Own", "own")]
)
def test_an_object_a_factory_or_a_class_of_a_module_will_do(name: str, model: str) -> None:
    found = embedder_named(f"own_embedders:{name}")
    assert found is not None
    assert found.name == model


def test_a_module_in_the_current_folder_is_found_without_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [path for path in __import__("sys").path if path])
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "embedders_below.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path / "below")
    found = embedder_named("embedders_below:model")
    assert found is not None


@for_each(
    "given, said",
    [
        ("no_such_module:x", "the module no_such_module was not found: run the command in its fo"),
        ("own_embedders.below:x", "the module own_embedders.below was not found"),
        ("own_embedders:missing", "the module own_embedders has no missing"),
        ("own_embedders:number", "must be an embedder, .* got an? int"),
        ("own_embedders:embed", "wrap a function that embeds texts in CallableEmbedder"),
        ("own_embedders:nothing", "must be an embedder, .* got nothing"),
        ("own_embedders:fails", r"fails\(\) failed \(.*no key"),
        ("own_embedders:refuses", "^set the key$"),
        ("broken_embedders:x", "can't be imported .*division by zero"),
        ("needy_embedders:x", "the module needs a_package_that_is_missing: install it"),
        ("own_embedders:", "must be one of .*module:name"),
        (":model", "must be one of .*module:name"),
        ("no-such-model", "no-such-model"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_says_why(given: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        embedder_named(given)


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="it is installed")
def test_a_missing_library_is_named_with_its_extra() -> None:
    with pytest.raises(ConfigError, match=re.escape(install_command("sentence-transformers"))):
        embedder_named("sentence-transformers:all-MiniLM-L6-v2")


def test_a_model_of_the_library_is_made_without_loading_it(tmp_path: Path) -> None:
    (tmp_path / "sentence_transformers.py").write_text("1 / 0")  # importing it would fail
    found = embedder_named("sentence-transformers:intfloat/e5-small")
    assert found is not None
    assert found.name == "intfloat/e5-small"


def test_the_built_in_models_and_none_are_as_before() -> None:
    assert embedder_named("none") is None
    assert isinstance(embedder_named("all-minilm-l6-v2-q"), OnnxEmbedder)


def test_a_database_names_one_of_our_own_models_or_none_yet() -> None:
    assert recorded_embedder("all-minilm-l6-v2-q").name == "all-minilm-l6-v2-q"
    assert recorded_embedder(None).name == DEFAULT_ONNX_MODEL


@pytest.mark.parametrize("recorded", ["own_embedders:model", "sentence-transformers:a/b", "none"])
def test_what_a_database_says_is_never_imported(recorded: str) -> None:
    with pytest.raises(ConfigError, match=rf"{recorded!r}, .*--embedder .*--embedder none"):
        recorded_embedder(recorded)
