"""Checks of settings, by the rules of `memoria._support.checks`.

In: a config, at its birth. Out: nothing, or a ``ConfigError`` that names the setting which is out
of its range. Touches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from memoria._support.checks import check_number, check_seconds, check_whole
from memoria._support.wording import kind_of, value_of, with_article
from memoria.errors import ConfigError


class SettingsCheck:
    """Checks the settings of one config; each method raises ``ConfigError`` if a value is wrong."""

    def __init__(self, config: object) -> None:
        self._config = config

    def whole(self, name: str, low: int, high: int) -> None:
        """Check that a setting is a whole number in [low, high]."""
        check_whole(getattr(self._config, name), name, low=low, high=high, error=ConfigError)

    def not_below(self, name: str, other: str) -> None:
        """Check that a setting is not below another one, which asks for as many."""
        value, least = getattr(self._config, name), getattr(self._config, other)
        if value < least:
            raise ConfigError(
                f"{name} must not be below {other} ({least}), got {value}: raise {name}, too",
                field=name,
            )

    def within(self, name: str, low: float, high: float, *, above_low: bool = False) -> None:
        """Check that a setting is a finite number in [low, high], or in (low, high]."""
        value = getattr(self._config, name)
        check_number(value, name, low=low, high=high, above_low=above_low, error=ConfigError)

    def positive(self, name: str) -> None:
        """Check that a setting is a finite number above 0."""
        self.within(name, 0, math.inf, above_low=True)

    def seconds(self, name: str) -> None:
        """Check that a setting is a time that a call may take, in seconds."""
        check_seconds(getattr(self._config, name), name, error=ConfigError)

    def one_of(self, name: str, allowed: Sequence[str]) -> None:
        """Check that a setting is one of the values allowed."""
        value = getattr(self._config, name)
        if not isinstance(value, str) or value not in allowed:  # arrays compare one by one
            raise ConfigError(
                f"{name} must be one of {', '.join(allowed)}; got {value_of(value)}", field=name
            )

    def instance(self, name: str, kind: type, *, optional: bool = False) -> None:
        """Check that a setting is an instance of a class, or None if ``optional``."""
        value = getattr(self._config, name)
        if not isinstance(value, kind) and not (optional and value is None):
            may = " or None" if optional else ""
            raise ConfigError(
                f"{name} must be {with_article(kind.__name__)}{may}, got {kind_of(value)}",
                field=name,
            )

    def flag(self, name: str) -> None:
        """Check that a setting is True or False."""
        value = getattr(self._config, name)
        if not isinstance(value, bool):
            raise ConfigError(f"{name} must be True or False, got {kind_of(value)}", field=name)

    def names(self, name: str) -> None:
        """Check that a setting is a tuple of strings."""
        value = getattr(self._config, name)
        if not isinstance(value, tuple) or not all(isinstance(each, str) for each in value):
            raise ConfigError(
                f"{name} must be a tuple of strings, got {value_of(value)}", field=name
            )
