"""Checks of settings: each names the setting that is out of its range.

In: the name of a setting and its value. Out: nothing, or a ``ConfigError``. Touches nothing.
"""

from __future__ import annotations

import math

from memoria.errors import ConfigError

# Longer than any call; more milliseconds than this would not fit into a message to the server.
MAX_SECONDS = 1_000_000


def _number(name: str, value: object) -> float:
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return value
    except OverflowError:  # a whole number of hundreds of digits
        pass
    raise ConfigError(f"{name} must be a finite number, got {_shown(value)}")


def check_positive(name: str, value: object) -> None:
    """Refuse what is no finite number above 0."""
    if _number(name, value) <= 0:
        raise ConfigError(f"{name} must be above 0, got {value}")


def check_seconds(name: str, value: object) -> None:
    """Refuse what is no time that a call may take."""
    if not 0 < _number(name, value) <= MAX_SECONDS:
        raise ConfigError(f"{name} must be above 0 and at most {MAX_SECONDS} s, got {value}")


def check_within(name: str, value: object, low: float, high: float) -> None:
    """Refuse what is no finite number from ``low`` to ``high``."""
    if not low <= _number(name, value) <= high:
        raise ConfigError(f"{name} must be in [{low}, {high}], got {value}")


def check_whole(name: str, value: object, low: int, high: int) -> None:
    """Refuse what is no whole number from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ConfigError(
            f"{name} must be a whole number from {low} to {high}, got {_shown(value)}"
        )


def check_one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse what is none of the values allowed."""
    if value not in allowed:
        raise ConfigError(f"{name} must be one of {', '.join(allowed)}; got {_shown(value)}")


def check_names(name: str, values: object) -> None:
    """Refuse what is no tuple of strings."""
    if not isinstance(values, tuple) or not all(isinstance(value, str) for value in values):
        raise ConfigError(f"{name} must be a tuple of strings, got {_shown(values)}")


def _shown(value: object) -> str:
    """Text of a wrong value; Python refuses to print a whole number of thousands of digits."""
    long = isinstance(value, int) and value.bit_length() > 64
    return "a very large number" if long else repr(value)[:100]
