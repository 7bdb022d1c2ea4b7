"""Commands whose modules are loaded when they are called.

In: the place of a command, such as ``recall.recall``. Out: a command that the help can list.
Touches the files of the package. Otherwise each command would wait for what all others need.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import CodeType
from typing import Any

import typer
from typer.core import TyperCommand
from typer.exceptions import TyperException

from memoria.cli.groups import with_options


class LaterCommand(TyperCommand):
    """Stands for a command, with its help but without its options, until it is called."""

    place: str

    def loaded(self) -> Any:
        """Load the module of the command, and return the command itself."""
        module, function = self.place.split(".")
        command = getattr(import_module(f"memoria.cli.{module}"), function)
        alone = typer.Typer(add_completion=False)
        text, examples = _help(inspect.getdoc(command) or "")
        panel = self.rich_help_panel
        add = alone.command(self.name, rich_help_panel=panel, help=text, epilog=examples)
        add(with_options(command))
        return typer.main.get_command(alone)

    def make_context(self, *given: Any, **settings: Any) -> Any:
        """Go on with the command itself: this is called only for the one that is wanted."""
        command = self.loaded()
        try:
            return command.make_context(*given, **settings)
        except TyperException as exc:
            names = [each.name for each in command.params if each.param_type_name == "argument"]
            shown = str(getattr(exc, "message", ""))
            if names[:1] in (["question"], ["text"]) and "unexpected extra argument" in shown:
                exc.message = f"{shown}: put the {names[0]} in quotes"
            raise


def add_later(group: typer.Typer, place: str, panel: str | None = None) -> None:
    """Add the command that is at ``module.function`` of this package to a group."""
    module, function = place.split(".")
    text, _ = _help(inspect.cleandoc(_docstrings(module)[function]))
    # `import_` is a command, but `import` is a keyword of Python
    name = function.rstrip("_").replace("_", "-")
    kind = type("LaterCommand", (LaterCommand,), {"place": place})
    group.command(name, cls=kind, rich_help_panel=panel, help=text)(lambda: None)


def _help(docstring: str) -> tuple[str, str]:
    """Split a docstring into the help, with one line for each paragraph, and the examples."""
    text, _, examples = docstring.partition("\n\nExamples\n--------\n")
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text), f"Examples:\n{examples}"


@cache
def _docstrings(module: str) -> dict[str, str]:
    """Read the docstrings of a module's functions from its compiled code, without running it."""
    name = f"memoria.cli.{module}"
    loader: Any = getattr(find_spec(name), "loader", None)
    codes = [const for const in loader.get_code(name).co_consts if isinstance(const, CodeType)]
    return {code.co_name: str(code.co_consts[0]) for code in codes if code.co_consts}
