"""Read the values of options that are given as ``KEY=VALUE``.

In: arguments. Out: a map. Touches nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import typer


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
