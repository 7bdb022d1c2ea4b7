"""Write the table of adapters: which version of a framework was tested, and how long an adapter is.

Run by ``scripts/test-adapters table``, where the frameworks are installed.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "integrations" / "index.md"
#: Module and page, name and package of the framework, and what the adapter offers.
ADAPTERS = (
    ("langchain", "LangChain", "langchain", "retriever, middleware"),
    ("langgraph", "LangGraph", "langgraph", "store"),
    ("llama_index", "LlamaIndex", "llama-index-core", "retriever, memory block"),
    ("neo4j_graphrag", "neo4j-graphrag", "neo4j-graphrag", "retriever"),
    ("google_adk", "Google ADK", "google-adk", "memory service"),
)
#: What all adapters share.
SHARED = "_[a-z]*.py"
_TABLE = re.compile(r"^\| framework \|.*?(?=^\n)", re.MULTILINE | re.DOTALL)


def lines_of(path: Path) -> int:
    """Lines of a module that are neither empty nor a comment, its docstrings included."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return sum(bool(line) and not line.startswith("#") for line in lines)


def rows() -> list[tuple[str, ...]]:
    """Return the rows of the table, without the version."""
    folder = ROOT / "memoria" / "integrations"
    found = []
    for module, name, package, offers in ADAPTERS:
        page = f"{module.replace('_', '-')}.md"
        count = lines_of(folder / f"{module}.py")
        found.append((f"[{name}]({page})", offers, f"`{page[:-3]}`", package, str(count)))
    shared = sum(map(lines_of, folder.glob(SHARED)))
    return [*found, ("shared code", "", "", "", str(shared))]


def table() -> str:
    """Return the table."""
    lines = [
        "| framework | adapter | extra | version tested | lines of code |",
        "|---|---|---|---|---|",
    ]
    for name, offers, extra, package, count in rows():
        tested = f"{package} {version(package)}" if package else ""
        lines.append(f"| {name} | {offers} | {extra} | {tested} | {count} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Replace the table of the page."""
    text = PAGE.read_text(encoding="utf-8")
    new, count = _TABLE.subn(lambda _: table(), text)
    if count != 1:
        raise SystemExit(f"{PAGE} has {count} tables of adapters; there must be one")
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
