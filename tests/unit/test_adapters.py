"""Adapters without their frameworks: they say what is missing, and nothing else loads one."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memoria._support.extras import install_command
from memoria.errors import InvalidInputError
from memoria.integrations._calls import Calls

ROOT = Path(__file__).parents[2]
MODULES = ["google_adk", "langchain", "langgraph", "llama_index", "neo4j_graphrag"]
FRAMEWORKS = {
    *("agents", "google.adk", "google.genai", "langchain", "langchain_core", "langgraph"),
    *("llama_index", "neo4j_graphrag", "openai", "pydantic_ai"),
}


def test_every_adapter_is_tested_here() -> None:
    files = (ROOT / "memoria" / "integrations").glob("[a-z]*.py")
    assert sorted(file.stem for file in files) == MODULES


def test_importing_memoria_loads_no_framework() -> None:
    code = (
        "import sys, memoria, memoria.sync, memoria.integrations\n"
        f"print(sorted({FRAMEWORKS!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_nothing_of_memoria_imports_an_adapter() -> None:
    for path in (ROOT / "memoria").rglob("*.py"):
        if path.parent.name != "integrations":
            assert "memoria.integrations" not in path.read_text("utf-8"), path


@pytest.mark.parametrize("module", MODULES)
def test_an_adapter_without_its_framework_names_the_extra(module: str) -> None:
    framework = {"google_adk": "google.adk"}.get(module, module)
    code = (
        f"import sys; sys.modules[{framework!r}] = None\n"
        f"from memoria.errors import ConfigError\n"
        f"try: import memoria.integrations.{module}\n"
        f"except ConfigError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert install_command(module.replace("_", "-")) in done.stdout


@pytest.mark.parametrize("module", MODULES)
def test_every_extra_has_a_bound_on_the_major_version(module: str) -> None:
    extra = module.replace("_", "-")
    [found] = re.findall(
        rf'^{extra} = \["[\w-]+>=[\d.]+,<\d+(?:\.\d+)?"\]$',
        (ROOT / "pyproject.toml").read_text("utf-8"),
        re.MULTILINE,
    )
    assert found


@pytest.mark.parametrize("module", MODULES)
def test_every_adapter_has_an_example_and_a_page(module: str) -> None:
    assert (ROOT / "examples" / f"{module}_agent.py").exists()
    page = ROOT / "docs" / "integrations" / f"{module.replace('_', '-')}.md"
    assert (ROOT / "examples" / f"{module}_agent.py").read_text("utf-8") in page.read_text("utf-8")


@pytest.mark.parametrize("module", MODULES)
def test_no_adapter_runs_a_loop_of_its_own(module: str) -> None:
    tree = ast.parse((ROOT / "memoria" / "integrations" / f"{module}.py").read_text("utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"asyncio", "threading"}


def test_the_table_of_adapters_has_the_lines_that_they_have() -> None:
    spec = importlib.util.spec_from_file_location("table", ROOT / "scripts" / "adapters_table.py")
    assert spec is not None
    assert spec.loader is not None
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    page = table.PAGE.read_text("utf-8")
    for name, offers, extra, _, count in table.rows():
        row = rf"^\| {re.escape(name)} \| {re.escape(offers)} \| {extra} \|[^|]*\| {count} \|$"
        assert re.search(row, page, re.MULTILINE), "run scripts/test-adapters table"


def test_what_is_not_a_retriever_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="must be a GraphRetriever"):
        Calls("bolt://localhost")  # type: ignore[arg-type]
