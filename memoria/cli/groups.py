"""Options that several commands share, defined once, as one parameter of a command.

In: a command. Out: the same command as Typer takes it. Touches nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from typer.models import OptionInfo

# What the help calls the value of an option, where Typer names a type of Python; a switch has none.
_VALUES = {bool: "", str: "TEXT", int: "N", float: "N", Path: "PATH"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionGroup:
    """Base of a group of options: a dataclass, each field of which is annotated as an option.

    `with_options` replaces a parameter of such a type by the options.
    """


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command for Typer, with options instead of each `OptionGroup`."""
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[OptionGroup]] = {}
    for name, parameter in signature.parameters.items():
        kind = parameter.annotation
        if isinstance(kind, type) and issubclass(kind, OptionGroup):
            groups[name] = kind
            parameters += _options(kind)
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    for parameter in parameters:
        _name_value(parameter.annotation)

    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    # Typer reads the signature and annotations. functools.wraps is not used, because Typer would
    # find the original signature through ``__wrapped__``.
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def _name_value(annotation: Any) -> None:
    """Say in the help what an option takes, unless the option says it."""
    inside = {annotation}
    while nested := {part for kind in inside for part in get_args(kind)} - inside:
        inside |= nested
    kinds = [word for kind, word in _VALUES.items() if kind in inside]
    for option in getattr(annotation, "__metadata__", ()):
        if isinstance(option, OptionInfo) and option.metavar is None and kinds:
            option.metavar = kinds[0]


def _options(group: type[OptionGroup]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
