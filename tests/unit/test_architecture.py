"""Imports go one way: lower ranks only, and stages never import each other."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import memoria

PACKAGE = Path(memoria.__file__).parent

# Rank of each module; a folder counts as one module. Within a rank nothing imports a sibling.
RANKS = [
    {"errors", "formulas"},
    {"_support"},
    {"types", "downloads"},
    {"store", "embed", "local", "serialize"},
    {"graph"},
    {"recall", "ingest", "learn"},
    {"remember", "doctor"},
    {"importers", "writer"},
    {"retriever", "sync"},
    {"evaluation", "connection", "agents", "view"},
    {"integrations", "cli"},
    {"__main__"},
]
RANK = {name: rank for rank, names in enumerate(RANKS) for name in names}
# The same within `recall`: its stages, then the settings of them all, then what joins them.
STAGES = [{"seeds", "context"}, {"strategies", "ranking"}, {"explore"}, {"config"}]
SURFACES = {"integrations", "connection", "cli", "agents", "view", "sync", "__main__"}


def module_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Every node of a file's code: most tests here walk over all files."""
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def imports_of(path: Path) -> set[str]:
    """Modules of memoria that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "memoria":
                found.update(alias.name for alias in node.names)
            elif node.module.startswith("memoria."):
                found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            parts = [alias.name.split(".") for alias in node.names]
            found.update(part[1] for part in parts if part[0] == "memoria" and len(part) > 1)
    return found


FILES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE
)


def test_modules_import_lower_ranks_only() -> None:
    unranked = {module_of(path) for path in FILES} - set(RANK)
    assert not unranked, "say where they belong"
    wrong = [
        f"{path.relative_to(PACKAGE)} must not import {other}"
        for path in FILES
        for name in [module_of(path)]
        for other in sorted(imports_of(path) - {name})
        if RANK[other] >= RANK[name]
    ]
    assert not wrong


def test_the_rooms_have_few_arrows_between_them() -> None:
    arrows = {
        (name, other)
        for path in FILES
        for name in [module_of(path)]
        for other in imports_of(path) - {name}
    }
    assert len(arrows) <= 160, "use what the rooms below have, or move what two rooms share"


def test_stages_of_a_recall_import_lower_ranks_only() -> None:
    rank = {name: rank for rank, names in enumerate(STAGES) for name in names}
    wrong = [
        f"{path.relative_to(PACKAGE)} must not import {inner}"
        for path in sorted((PACKAGE / "recall").rglob("*.py"))
        for name in [path.relative_to(PACKAGE / "recall").parts[0].removesuffix(".py")]
        if name in rank
        for inner in sorted({inner_module(full) for full in run_time_imports(path)} - {name, ""})
        if rank.get(inner, len(STAGES)) >= rank[name]
    ]
    assert not wrong


def inner_module(full: str) -> str:
    """The part of `recall` that a full name is in, or nothing."""
    parts = full.split(".")
    return parts[2] if parts[:2] == ["memoria", "recall"] and len(parts) > 2 else ""


@pytest.mark.parametrize(
    ("folder", "allowed"),
    [
        ("types/picture", {"_support"}),  # knows nothing of memories
        ("ingest/reembed", {"_support", "embed", "errors", "graph", "store"}),
        # What an agent calls is under the servers: none of them is needed for it.
        ("agents", set(RANK) - SURFACES),
    ],
)
def test_a_room_within_a_room_knows_no_more_than_it_needs(folder: str, allowed: set[str]) -> None:
    own = "memoria." + folder.replace("/", ".")
    files = sorted((PACKAGE / folder).glob("*.py"))
    assert len(files) > 3
    for path in files:
        others = {
            name.removeprefix("memoria.")
            for name in run_time_imports(path)
            if name.startswith("memoria.") and not name.startswith(own)
        }
        assert {name.split(".")[0] for name in others} <= allowed, path.name


def packages_of(path: Path) -> set[str]:
    """What a file imports, anywhere in it: the packages at the top."""
    found: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom):
            found.add((node.module or ".").split(".")[0])
        elif isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
    return found


@pytest.mark.parametrize("folder", ["formulas", "learn/link"])
def test_formulas_and_linking_need_the_standard_library_alone(folder: str) -> None:
    files = sorted((PACKAGE / folder).glob("*.py"))
    assert len(files) > 5
    needed = {name for path in files for name in packages_of(path)}
    assert needed <= {"memoria", *sys.stdlib_module_names}  # no numpy, no model


def test_the_page_on_the_rooms_lists_the_ranks_as_they_are() -> None:
    page = (PACKAGE.parent / "docs" / "project" / "rooms.md").read_text("utf-8")
    section = page.split("\n## Import directions\n")[1].split("\n## ")[0]
    lines = re.findall(r"^\d+\. (.*)", section, re.MULTILINE)
    assert [set(re.findall(r"`(\w+)`", line)) for line in lines] == RANKS


def test_linking_asks_neither_a_model_nor_the_network() -> None:
    files = sorted((PACKAGE / "learn" / "link").glob("*.py"))
    modules = {name for path in files for name in imports_of(path)}
    assert not modules & {"embed", "connection"}
    needed = {name for path in files for name in packages_of(path)}
    assert not needed & {"http", "socket", "ssl", "subprocess", "urllib"}


def test_no_two_files_need_each_other_not_even_for_types() -> None:
    names = {path: "memoria." + ".".join(path.relative_to(PACKAGE).parts)[:-3] for path in FILES}
    files = {name.removesuffix(".__init__"): path for path, name in names.items()}
    needed: dict[str, set[str]] = {}
    for name, path in files.items():
        froms = [
            node for node in nodes_of(path) if isinstance(node, ast.ImportFrom) and node.module
        ]
        each = {
            (node.module or "", f"{node.module}.{a.name}") for node in froms for a in node.names
        }
        needed[name] = {inner if inner in files else outer for outer, inner in each} - {name}
    TopologicalSorter(needed).prepare()  # a circle is a CycleError, which names its files


def run_time_imports(path: Path) -> set[str]:
    """Full names of memoria's modules that a file imports, but for those that only types need."""
    for_types = {
        inner
        for node in nodes_of(path)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in nodes_of(path):
        if node in for_types:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


def test_strategies_touch_neither_the_store_nor_the_graph() -> None:
    files = sorted((PACKAGE / "recall" / "strategies").glob("*.py"))
    assert len(files) > 5
    for path in files:
        imported = {name for name in run_time_imports(path) if name.startswith("memoria.")}
        words = {name for name in imported if name.startswith("memoria.graph.vocabulary")}
        touched = {name.split(".")[1] for name in imported - words}
        assert not touched & {"store", "graph"}, path.name


def files_with(text: str, *, allowed: set[str]) -> list[Path]:
    """The files with a text, apart from those of the modules that may have it."""
    return [
        path
        for path in FILES
        if module_of(path) not in allowed and text in path.read_text(encoding="utf-8")
    ]


def test_only_the_store_knows_the_drivers_exceptions() -> None:
    assert files_with("neo4j.exceptions", allowed={"store", "local"}) == []


def test_only_surfaces_read_the_environment() -> None:
    # home: what the command line puts there, Python code must find without being told where;
    # it is read at the call, never at import. local hands it on to the processes it starts.
    found = files_with("os.environ", allowed=SURFACES | {"local"})
    assert {path.name for path in found} <= {"home.py"}


def test_what_reads_loads_nothing_that_writes() -> None:
    code = "import sys, memoria.retriever; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = {name.split(".")[1] for name in done.stdout.split() if name.startswith("memoria.")}
    assert loaded == {
        *("_support", "downloads", "embed", "errors", "formulas", "graph", "recall"),
        *("retriever", "store", "types"),
    }
    assert memoria.GraphRetriever.__bases__ == memoria.GraphWriter.__bases__ == (object,)


def test_the_type_of_a_callback_needs_no_terminal_library() -> None:
    code = "import sys, memoria._support.progress; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_public_names_are_those_listed() -> None:
    assert memoria._MODULE_OF.keys() == {*memoria.__all__, "open"}  # a star import: without `open`
    assert list(memoria.__all__) == sorted(memoria.__all__)
    assert set(memoria.__all__) <= set(dir(memoria))


def test_a_public_name_is_at_run_time_what_type_checkers_take_it_for() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    shown = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert shown == memoria._MODULE_OF
    for name, module in shown.items():
        assert getattr(memoria, name) is getattr(import_module(str(module)), name)


def test_a_room_is_there_without_an_import_of_its_own_and_a_wrong_name_is_not() -> None:
    code = "import memoria; memoria.types.Seed; memoria.sync.connect"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    with pytest.raises(AttributeError, match="has no attribute 'conect'"):
        memoria.conect  # type: ignore[attr-defined]  # noqa: B018  # the name is to be wrong


def test_what_starts_quickly_loads_neither_driver_nor_numpy() -> None:
    imports = [
        "import memoria",
        "from memoria import Seed, UnavailableError",
        "import memoria.cli",
        "import memoria.cli.mcp, memoria.agents.mcp.transports",  # what a host of MCP waits for
        "import memoria.agents.http.app",
        "import memoria.cli.hook, memoria.agents.hooks, memoria.agents.mcp.places",
    ]
    # In one process: the first line that is told is the one to look at.
    slow = "{'neo4j', 'numpy', 'onnxruntime', 'snowballstemmer'}"
    told = [f"{each}\nif {slow} & {{*sys.modules}}: print({each!r})" for each in imports]
    code = "\n".join(["import sys", *told])
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == ""
