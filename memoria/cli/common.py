"""Options, consoles and exit codes that all commands share.

In: arguments and the environment. Out: text for a person on a terminal, or JSON.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console

from memoria._support.extras import install_command
from memoria._support.wording import one_line as one_line
from memoria._support.wording import printable as printable
from memoria.errors import ConfigError, DimensionError, InvalidInputError, MemoriaError

# Exit codes in addition to 0. Typer itself uses 2, for wrong usage.
FAILED = 1
WRONG_USAGE = 2
NOT_RUNNING = 3
EXIT_CODES = {"warning": 4, "error": 5}  # of an examination, by its worst finding
INTERRUPTED = 130  # the convention of shells: 128 + SIGINT


class _Console(Console):
    """A console that escapes hidden characters in texts: a database may contain any."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as Rich does; Rich's own objects are printed unchanged."""
        shown = (printable(each) if isinstance(each, str) else each for each in objects)
        super().print(*shown, **options)


out = _Console(highlight=False, emoji=False, soft_wrap=True)
err = _Console(highlight=False, emoji=False, soft_wrap=True, stderr=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Scope = Annotated[str, typer.Option(envvar="MEMORIA_SCOPE", help="Scope (tenant) of the memories.")]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Tag of the query; may be repeated."),
]
MoreKinds = Annotated[
    list[str] | None, typer.Option(help="One more kind that memories may have; may be repeated.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Setting of the exploration, such as strategy.max_depth=3; may be repeated.",
    ),
]


def is_given(context: typer.Context, name: str) -> bool:
    """Tell whether an option is given on the command line, not only in the environment."""
    # Compared by name, because the class belongs to Typer or to click, depending on the version.
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


@contextmanager
def needing(command: str, extra: str) -> Iterator[None]:
    """Say which extra a command needs if an import within the block finds no package."""
    try:
        yield
    except ModuleNotFoundError as exc:
        if (exc.name or "").startswith("memoria"):
            raise
        text = f"memoria {command} needs the extra {extra}: {install_command(extra)}"
        raise ConfigError(text) from exc


def print_facts(facts: dict[str, Any], as_json: bool, line: str) -> None:
    """Print ``facts`` as one line of JSON, or ``line`` for a person."""
    if as_json:
        print_json(facts)
    else:
        print_text(line)


def print_json(facts: dict[str, Any]) -> None:
    """Print ``facts`` as one line of JSON."""
    sys.stdout.write(json.dumps(facts) + "\n")


def warn(text: str) -> None:
    """Print a warning on standard error."""
    err.print(text, style="yellow", markup=False)


def hint(text: str) -> None:
    """Print a remark on the result on standard error."""
    err.print(text, style="dim", markup=False)


def print_doubt(certain: bool) -> None:
    """Say on standard error that the numbers of a report may be too low, unless it is certain."""
    if not certain:
        warn(
            "an answer of the server was lost, and the change was sent again: it is made, but the "
            "numbers of new or deleted items may be too low"
        )


def print_heading(text: str) -> None:
    """Print a heading on a terminal only; other programs get the text below it alone."""
    if out.is_terminal:
        out.print(text, style="bold")


def print_text(text: str, *, wrap: bool = False) -> None:
    """Print a text of several lines, without its control characters on a terminal.

    With ``wrap``, long lines break between words; otherwise they break at the edge of the terminal.
    """
    if out.is_terminal:
        out.print(printable(text), markup=False, soft_wrap=not wrap)
    else:
        sys.stdout.write(text + "\n")


def say_missing(ids: Iterable[str], scope: str) -> None:
    """Print the ids that no memory of the scope has."""
    for id_ in ids:
        warn(f"no memory {one_line(id_)} in scope {one_line(scope)}")


def pairs_of(given: Sequence[str] | None, option: str) -> dict[str, Any]:
    """Return key -> value; a value that is not JSON is a string.

    Parameters
    ----------
    option
        Name of the option, such as ``--set``, for the message.

    Raises
    ------
    typer.BadParameter
        A text has no key or no equals sign.
    """
    return dict(_pair(text, option) for text in given or ())


def _pair(text: str, option: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise typer.BadParameter(f"{text!r} must be KEY=VALUE", param_hint=option)
    try:
        return key, json.loads(value)
    except (ValueError, RecursionError):
        return key, value


def advice(error: MemoriaError) -> str:
    """Return the option that helps against an error, as a clause to append to its message."""
    if not isinstance(error, InvalidInputError) or re.search(r", line \d+: ", str(error)):
        return ""  # a message with ", line" is about a dataset, for which there is no such option
    if isinstance(error, DimensionError) and error.field in ("embedder", "dimensions"):
        return "; leave out --embedder, or change the database with `memoria reembed`"
    found = []
    if error.field == "kind":
        found.append("--kind allows one more kind")
    if re.search(r":\d+: ", str(error)):  # a line of a file
        found.append("--skip-invalid leaves such lines out")
    elif re.search(r"this is not an? .* export|: no export of ", str(error)):
        found.append("import-chats auto finds out which program it is from")
    elif re.search(r": (conversation|message|element|entry) \d+: (?!not (JSON|UTF-8))", str(error)):
        found.append("--skip-invalid leaves such parts out")
    return "".join(f"; {text}" for text in found)
