"""Adapters without their frameworks: they say what is missing, and nothing else loads one."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import neo4j
import pytest

from memoria import GraphRetriever
from memoria._support.extras import install_command
from memoria.errors import InvalidInputError
from memoria.integrations._calls import Calls
from memoria.integrations._found import id_of
from memoria.types import MemoryNode, RankedMemory
from memoria.types import Path as Found

ROOT = Path(__file__).parents[3]
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


def test_an_adapter_without_its_framework_names_the_extra() -> None:
    without = [{"google_adk": "google.adk"}.get(module, module) for module in MODULES]
    code = (
        "import importlib, sys\n"
        f"sys.modules.update(dict.fromkeys({without!r}))\n"
        "from memoria.errors import ConfigError\n"
        f"for module in {MODULES!r}:\n"
        "    try: importlib.import_module('memoria.integrations.' + module); print()\n"
        "    except ConfigError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said = dict(zip(MODULES, done.stdout.splitlines(), strict=True))
    assert [m for m in MODULES if install_command(m.replace("_", "-")) not in said[m]] == []


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


async def test_the_own_scope_of_a_retriever_may_be_read_with_those_of_users() -> None:
    async with neo4j.AsyncGraphDatabase.driver("bolt://127.0.0.1:1") as driver:
        calls = Calls(GraphRetriever(driver, scope="team"), ["team", "house"])
        assert (calls.memory.scope, calls.memory.also_read) == ("team", ("house",))
        assert calls.of_scope("ann").also_read == ("team", "house")
        assert calls.of_scope("house").also_read == ("team",)
        inherited = Calls(GraphRetriever(driver, scope="team", also_read=["house"]))
        assert inherited.of_scope("ann").also_read == ("house",)
        with pytest.raises(InvalidInputError, match="also_read must be a list"):
            Calls(GraphRetriever(driver, scope="team"), "team")


def test_an_id_names_its_scope_unless_a_framework_may_delete_by_it() -> None:
    def ranked(scope: str) -> RankedMemory:
        memory = MemoryNode(id="m/1", kind="Event", text="The van.")
        path = Found(
            seed_id="m/1",
            hops=(),
            memories=(memory,),
            end_reason="dead_end",
            energy=0.5,
            scope=scope,
        )
        return RankedMemory(memory=memory, score=1.0, path=path)

    assert [id_of(ranked(scope)) for scope in ("", "ann", "team")] == [
        "m/1",
        "ann/m%2F1",
        "team/m%2F1",
    ]
    assert [id_of(ranked(scope), "ann") for scope in ("", "ann", "team")] == [
        "m/1",
        "m/1",
        "team/m%2F1",
    ]
