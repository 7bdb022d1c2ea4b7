"""Read values of a graph that anybody may have written.

In: a property as the driver returned it. Out: the value as memoria uses it; a property that is
missing, or of another type, reads as None or as empty. Touches nothing, and never raises.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any


def string(value: object) -> str | None:
    """Return a string as it is, and None for any other value."""
    return value if isinstance(value, str) else None


def strings(value: object) -> tuple[str, ...]:
    """Return the texts of a list's entries; empty where the value is not a list.

    >>> strings(["oat", 2])
    ('oat', '2')
    """
    return tuple(map(str, value)) if isinstance(value, list) else ()


def number(value: object) -> float | None:
    """Return a finite number as a float, and None for any other value; a bool is not a number.

    >>> number(3), number(True), number(math.nan)
    (3.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        converted = float(value)
    except OverflowError:  # a whole number of hundreds of digits; a database has none
        return None
    return converted if math.isfinite(converted) else None


def numbers(value: object) -> tuple[float, ...]:
    """Return the finite numbers of a list; empty where the value is not a list.

    >>> numbers([3, "4", math.inf])
    (3.0,)
    """
    listed = value if isinstance(value, list) else ()
    return tuple(found for found in map(number, listed) if found is not None)


def count(value: object) -> int:
    """Return a counter as a whole number, 0 or more; 0 where the value is not a number.

    >>> count(3.0), count(-1), count("3")
    (3, 0, 0)
    """
    counted = number(value)
    return 0 if counted is None else max(0, int(counted))


def json_map(value: object) -> dict[str, Any]:
    """Return a map that is stored as JSON; empty where the value is not the text of a map."""
    if not isinstance(value, str):
        return {}
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def properties(value: object) -> dict[str, Any]:
    """Return a map that is stored as JSON, or is given as pairs of name and value.

    >>> properties('{"a": 1}'), properties([["a", 1]]), properties([1])
    ({'a': 1}, {'a': 1}, {})
    """
    if not isinstance(value, list):
        return json_map(value)
    pairs = [each for each in value if isinstance(each, list) and len(each) == 2]
    return {str(name): _as_json(each) for name, each in pairs}


def _as_json(value: object) -> object:
    """Return a property as JSON has it; a time or a place becomes its text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [_as_json(each) for each in value]
    return value.iso_format() if hasattr(value, "iso_format") else str(value)


def moment(value: object) -> datetime | None:
    """Return a time from the text that Cypher prints; a time without a zone counts as UTC.

    Cypher prints nanoseconds, and the name of a zone after its offset; Python keeps microseconds.

    >>> moment("2026-07-02T12:00:00.123456789+09:00[Asia/Tokyo]").isoformat()
    '2026-07-02T12:00:00.123456+09:00'
    """
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value.partition("[")[0])
    except ValueError:  # a year that Python does not know, or a text that is not a time
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
