"""Refuse modules and functions that have grown past their budget.

A module may have 600 lines, a function 60 without its docstring and 6 parameters (``self`` not
counted). Files and functions above the softer limits, 400 lines and 40, are listed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("memoria", "benchmarks", "scripts")
MODULE_LINES = (400, 600)
FUNCTION_LINES = (40, 60)
PARAMETERS = 6

Finding = tuple[bool, str]


def check_module(path: Path) -> Iterator[Finding]:
    """Yield (is an error, text) for one file."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT)
    yield from limit(f"{name}", len(text.splitlines()), MODULE_LINES)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            where = f"{name}:{node.lineno} {node.name}"
            yield from limit(where, body_lines(node), FUNCTION_LINES)
            count = parameters(node)
            fixed = node.name == "__init__" or is_public_surface(node) or is_command(path, node)
            if count > PARAMETERS and not fixed:
                yield True, f"{where} has {count} parameters; at most {PARAMETERS}: use a config"


def limit(where: str, lines: int, limits: tuple[int, int]) -> Iterator[Finding]:
    """Compare a length with its soft and its hard limit."""
    soft, hard = limits
    if lines > soft:
        yield lines > hard, f"{where} has {lines} lines (soft limit {soft}, hard limit {hard})"


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Parameters of a function, ``self`` and ``cls`` not counted."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in arguments)


def is_public_surface(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the signature is fixed by the design: calls of a retriever, tools for models."""
    fixed = {"connect", "recall", "recall_stream", "memory_recall", "memory_remember"}
    return bool(node.decorator_list) or node.name in fixed


def is_command(path: Path, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is a command of the command line, whose parameters are the options."""
    return path.parent.name == "cli" and not node.name.startswith("_")


def main() -> int:
    """Print what was found; 1 when a hard limit is passed."""
    paths = [path for folder in FOLDERS for path in ROOT.glob(f"{folder}/**/*.py")]
    findings = [finding for path in sorted(paths) for finding in check_module(path)]
    for is_error, text in findings:
        print(("error: " if is_error else "note: ") + text)
    return int(any(is_error for is_error, _ in findings))


if __name__ == "__main__":
    sys.exit(main())
