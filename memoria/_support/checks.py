"""Checks of values from callers and files, and of settings, made before the driver sees them.

In: a raw value and the name of its field. Out: the value in the form memoria keeps, or an
``InvalidInputError`` that names the field. A bool is never a number.
Configs check their settings by the same rules; see `memoria._support.settings_check`.

The depth of maps and lists is limited because a list nested thousands deep ends the process
inside the driver's Rust extension, or overflows the server's stack.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence, Sized
from inspect import signature
from typing import Any, TypeVar

from memoria._support.wording import kind_of, value_of, whole
from memoria.errors import ConfigError, InvalidInputError, ScopeError

T = TypeVar("T")

MAX_DIMENSIONS = 4096
MAX_ID_BYTES = 512
#: The words of the message about a vector of such a length.
BAD_LENGTH = "length outside 1e-18 to 1e18, which the index can't hold: scale it"
#: Scopes that one recall may read: each takes a search, and an exploration if it has seeds.
MAX_SCOPES = 16
MAX_TEXT_BYTES = 1_000_000
MAX_TAGS = 256
MAX_TAG_CHARS = 256
MAX_NESTING = 32
MAX_NUMBER_BITS = 14_284  # 4,300 digits
MAX_PARTS = MAX_TEXT_BYTES // 2  # JSON of at most MAX_TEXT_BYTES bytes cannot have more parts
# A time longer than any call; more milliseconds would not fit into a message to the server.
MAX_SECONDS = 1_000_000
#: What a check raises: an error of the input, or of a setting.
Refusal = type[InvalidInputError] | type[ConfigError]
_Placed = tuple[str, object]  # a path such as ``metadata['shops']``, and the value there
_SHOWN_KEY, _SHOWN_PLACE = 40, 200  # characters of a key and of a path in a message
_NESTED = (dict, list, tuple, Mapping)  # the usual ones first: looking for a Mapping takes longest
_KIND = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def check_string(value: object, field: str, *, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Return ``value`` if it is a string that UTF-8 can carry in at most ``max_bytes`` bytes."""
    if not isinstance(value, str):
        raise InvalidInputError(f"{field} must be a string, got {kind_of(value)}", field=field)
    try:
        size = len(value) if value.isascii() else len(value.encode("utf-8"))
    except UnicodeEncodeError as exc:
        raise InvalidInputError(
            f"{field} holds a lone surrogate, which UTF-8 can't carry: decode its source correctly",
            field=field,
        ) from exc
    if size > max_bytes:
        raise InvalidInputError(
            f"{field} has {size} bytes; at most {max_bytes} are allowed: shorten it, or split it",
            field=field,
        )
    return value


def mended_text(value: object, field: str, *, max_bytes: int = MAX_TEXT_BYTES) -> str:
    r"""Return a text as it is stored: one rule for every way in.

    Halves of characters, which remain where a text was cut, become "�"; a text of nothing but
    blanks counts as missing. Ids, tags and metadata are not mended, since others may refer to them.

    >>> mended_text("cut \ud83d", "text"), mended_text(" \n", "text")
    ('cut �', '')
    """
    text = check_string(
        whole(value) if isinstance(value, str) else value, field, max_bytes=max_bytes
    )
    return "" if text.isspace() else text


def check_id(value: object, field: str = "id") -> str:
    """Return ``value`` if it is an identifier: a string of 1 to 512 UTF-8 bytes."""
    text = check_string(value, field, max_bytes=MAX_ID_BYTES)
    if not text:
        raise InvalidInputError(f"{field} must not be empty", field=field)
    return text


def is_id(value: object) -> bool:
    """Tell whether a stored value can be an id: a foreign graph may hold anything."""
    return isinstance(value, str) and 0 < len(value.encode()) <= MAX_ID_BYTES


def check_scope(value: object) -> str:
    """Return ``value`` if it is the name of a scope; a scope is always required."""
    if value is None or value == "":
        raise ScopeError("a scope is required: pass the tenant whose memories these are")
    return check_id(value, "scope")


def check_scopes(values: object, field: str = "scopes") -> tuple[str, ...]:
    """Return scopes that one recall is to read as a tuple: 1 to `MAX_SCOPES`, each once."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ScopeError(f"{field} must be a list of scopes, got {kind_of(values)}", field=field)
    scopes = tuple(map(check_scope, values))
    if not 1 <= len(scopes) <= MAX_SCOPES:
        raise ScopeError(
            f"a recall reads 1 to {MAX_SCOPES} scopes, {field} makes it {len(scopes)}", field=field
        )
    for place, scope in enumerate(scopes):
        if scope in scopes[:place]:
            raise ScopeError(f"a scope is read twice, {scope!r:.80}: name it once", field=field)
    return scopes


def check_each(values: object, kind: type[T], field: str) -> tuple[T, ...]:
    """Return a list as a tuple if each of its members is of one kind."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInputError(
            f"{field} must be a list of {kind.__name__}, got {kind_of(values)}", field=field
        )
    found = tuple(values)
    for each in found:
        if not isinstance(each, kind):
            fields = ", ".join(f"{name}=..." for name in list(signature(kind).parameters)[:2])
            how = f": write {kind.__name__}({fields})" if isinstance(each, Mapping) else ""
            raise InvalidInputError(
                f"{field} must contain {kind.__name__}, got {kind_of(each)}{how}", field=field
            )
    return found


def check_ids(values: object, field: str = "ids") -> tuple[str, ...]:
    """Return a list of identifiers de-duplicated and sorted: the order in which memoria works."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        got = "one string" if isinstance(values, str) else kind_of(values)
        raise InvalidInputError(f"{field} must be a list of ids, got {got}", field=field)
    return tuple(sorted({check_id(value, field) for value in values}))


def check_kind(value: object, field: str = "kind") -> str:
    """Return ``value`` if it can be the label of a kind: ``[A-Za-z_][A-Za-z0-9_]{0,63}``."""
    text = check_string(value, field)
    if not _KIND.fullmatch(text):
        raise InvalidInputError(
            f"{field} must match [A-Za-z_][A-Za-z0-9_]{{0,63}}, got {text[:80]!r}", field=field
        )
    return text


def check_strings(values: object, field: str) -> tuple[str, ...]:
    """Return a list of short strings de-duplicated and sorted: the form that tags are stored in."""
    if isinstance(values, tuple) and not values:  # as most are
        return ()
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidInputError(
            f"{field} must be a list of strings, got {kind_of(values)}", field=field
        )
    unique = {check_string(value, field) for value in values}
    if len(unique) > MAX_TAGS:
        raise InvalidInputError(
            f"{field} has {len(unique)} entries; at most {MAX_TAGS} are allowed", field=field
        )
    if any(len(value) > MAX_TAG_CHARS for value in unique):
        raise InvalidInputError(
            f"an entry of {field} is longer than {MAX_TAG_CHARS} characters", field=field
        )
    return tuple(sorted(unique))


def check_number(
    value: object,
    field: str,
    *,
    low: float,
    high: float,
    above_low: bool = False,
    error: Refusal = InvalidInputError,
) -> float:
    """Return ``value`` as a float if it is a finite number in [low, high], or in (low, high]."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise error(f"{field} must be a number, got {kind_of(value)}", field=field)
    # A whole number is compared before it is converted: one of 400 digits has no float.
    inside = low <= value <= high and not (above_low and value == low)
    if not inside or abs(value) > sys.float_info.max:
        wanted = "a finite number" if inside else _bounds(low, high, above_low=above_low)
        raise error(f"{field} must be {wanted}, got {_shown(value)}", field=field)
    return float(value)


def check_whole(
    value: object, field: str, *, low: int, high: int, error: Refusal = InvalidInputError
) -> int:
    """Return ``value`` if it is a whole number in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        bounds = f"of at least {low}" if high >= sys.maxsize else f"from {low} to {high}"
        message = f"{field} must be a whole number {bounds}, got {_shown(value)}"
        raise error(message, field=field)
    return value


def check_seconds(value: object, field: str, *, error: Refusal = InvalidInputError) -> float:
    """Return ``value`` as a float if it is a time that a call may take, in seconds."""
    return check_number(value, field, low=0, high=MAX_SECONDS, above_low=True, error=error)


def check_score(value: object) -> float:
    """Return ``value`` as a float if it is a seed score: finite, in (0, 1]."""
    return check_number(value, "score", low=0, high=1, above_low=True)


def check_vector(values: object) -> tuple[float, ...]:
    """Return a vector as floats if all are finite and not all are zero (cosine needs a length)."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInputError(
            f"embedding must be a list of numbers, got {kind_of(values)}", field="embedding"
        )
    try:
        numbers = tuple(values)
        kinds = set(map(type, numbers))
        vector = numbers if kinds == {float} else tuple(map(float, numbers))
    except (TypeError, ValueError, OverflowError, RuntimeError) as exc:  # as odd arrays have it
        raise InvalidInputError("embedding must contain numbers only", field="embedding") from exc
    if not {str, bytes, bool}.isdisjoint(kinds):
        raise InvalidInputError("embedding must contain numbers only", field="embedding")
    if not has_length(vector):
        raise InvalidInputError(f"embedding {_fault_of(vector)}", field="embedding")
    return vector


def has_length(vector: Sequence[float]) -> bool:
    """Tell whether a vector has a length that an index can hold; with NaN it has none."""
    return 1e-18 < math.hypot(*vector) < 1e18


def _fault_of(vector: Sequence[float]) -> str:
    """Say why a vector of this length can't be stored."""
    if not all(map(math.isfinite, vector)):
        return "holds a number that is not finite"
    if not any(vector):
        return "is empty or all zeros: cosine similarity is not defined for it"
    return f"has a {BAD_LENGTH}"


def check_json_map(value: object, field: str) -> dict[str, Any]:
    """Return a JSON-like mapping of at most 32 levels, this one counted, and 500,000 parts."""
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{field} must be a map, got {kind_of(value)}", field=field)
    if not value:  # as most are
        return {}
    level: list[_Placed] = [(field, value)]
    parts = 0
    for _ in range(MAX_NESTING):
        deeper: list[_Placed] = []
        for place, item in level:
            # Counted while they unfold, because a few lists that hold each other twice unfold
            # to billions of parts.
            parts += len(item) if isinstance(item, Sized) else 0
            if parts > MAX_PARTS:
                raise InvalidInputError(
                    f"{field} has more than {MAX_PARTS} parts: shorten it", field=field
                )
            deeper += _nested_in(place, item, field)
        if not deeper:
            return dict(value)
        level = deeper
    raise InvalidInputError(
        f"{field} is nested deeper than {MAX_NESTING} levels: flatten it", field=field
    )


def _nested_in(place: str, item: object, field: str) -> list[_Placed]:
    """Return the nested maps and lists with their paths, and check all other parts."""
    pairs: Iterable[tuple[object, object]]
    if isinstance(item, Mapping):
        for key in item:
            _check_leaf(key, f"a key of {place}", field, is_key=True)
        pairs = item.items()
    else:
        pairs = enumerate(item) if isinstance(item, list | tuple) else ()
    nested: list[_Placed] = []
    for key, child in pairs:
        if isinstance(child, _NESTED):
            nested.append((_place_in(place, key), child))
        elif not (child is None or type(child) is bool or _is_short(child)):
            # Not for others, which are valid: the path is built only for a message.
            _check_leaf(child, _place_in(place, key), field)
    return nested


def _place_in(place: str, key: object) -> str:
    """Return the path of a part, such as ``metadata['shops'][2]``; long paths are cut."""
    inside = f"{key[:_SHOWN_KEY]!r}" if isinstance(key, str) else f"{key}"
    return f"{place}[{inside}]" if len(place) < _SHOWN_PLACE else place


def _is_short(value: object) -> bool:
    """Tell whether a value is a whole number of at most 4,300 digits, which Python can write."""
    return type(value) is int and value.bit_length() <= MAX_NUMBER_BITS


def _check_leaf(item: object, place: str, field: str, *, is_key: bool = False) -> None:
    if is_key or isinstance(item, str):
        try:
            check_string(item, place)
        except InvalidInputError as exc:
            raise InvalidInputError(str(exc), field=field) from exc
    elif isinstance(item, int) and item.bit_length() > MAX_NUMBER_BITS:
        raise InvalidInputError(f"{place} holds a number of more than 4300 digits", field=field)
    elif isinstance(item, float) and not math.isfinite(item):
        raise InvalidInputError(f"{place} holds a number that is not finite", field=field)
    elif not (item is None or isinstance(item, bool | int | float)):
        raise InvalidInputError(f"{place} holds {kind_of(item)}, which is not JSON", field=field)


def _shown(value: object) -> str:
    """Name a wrong value: a number as it is, any other value by its type."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value_of(value) if is_number else kind_of(value)


def _bounds(low: float, high: float, *, above_low: bool) -> str:
    if high == math.inf:
        return f"above {low}" if above_low else f"at least {low}"
    return f"in {'(' if above_low else '['}{low}, {high}]"
