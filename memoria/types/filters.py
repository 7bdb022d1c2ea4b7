"""Which memories a call is about: by kind, tags, time and metadata, or all but some.

In: values from a caller, checked once. Out: the parameters ``kinds`` and ``where`` of queries, and
the same judgement of a memory that was read. Touches nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memoria._support import checks
from memoria._support.wording import kind_of
from memoria.errors import InvalidInputError
from memoria.types.history import utc_time
from memoria.types.memory import MemoryNode

#: Characters of a key and its value together, up to which a filter can ask for the value.
MAX_PAIR_CHARS = 1_000
MAX_EXCLUDED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which memories a call is about; a memory must fit everything that is given.

    Attributes
    ----------
    kinds
        The memory is of one of these kinds; None for any kind.
    tags
        The memory has all of these tags; compared letter by letter.
    created_from
        The memory was made at this time or later; a naive time counts as UTC. None for any time.
    created_before
        The memory was made before this time. A memory without ``created_at`` fits no time.
    metadata
        The memory's ``metadata`` has these keys, with these values. A value is a string, a number,
        true or false; key and value have at most 1,000 characters together.
    exclude_ids
        The memory is none of these; at most 10,000 ids. An id that no memory has excludes nothing.

    Raises
    ------
    InvalidInputError
        A field has the wrong type or is out of its range, or no time lies between the two times;
        the error names the field.
    """

    kinds: Collection[str] | None = None
    tags: Collection[str] = ()
    created_from: datetime | None = None
    created_before: datetime | None = None
    metadata: Mapping[str, str | float | bool] = field(default_factory=dict)
    exclude_ids: Collection[str] = ()

    def __post_init__(self) -> None:
        if self.kinds is not None:
            _set(self, "kinds", _checked_kinds(self.kinds))
        _set(self, "tags", checks.check_strings(self.tags, "tags"))
        for name in ("created_from", "created_before"):
            if getattr(self, name) is not None:
                _set(self, name, utc_time(getattr(self, name), name))
        if self.created_from and self.created_before and self.created_from >= self.created_before:
            raise InvalidInputError(
                "created_before must be later than created_from", field="created_before"
            )
        _set(self, "metadata", _checked_metadata(self.metadata))
        _set(self, "exclude_ids", frozenset(checks.check_ids(self.exclude_ids, "exclude_ids")))
        if len(self.exclude_ids) > MAX_EXCLUDED:
            raise InvalidInputError(
                f"exclude_ids has {len(self.exclude_ids)} ids; at most {MAX_EXCLUDED} are allowed",
                field="exclude_ids",
            )

    @property
    def is_empty(self) -> bool:
        """Whether every memory fits."""
        return self.kinds is None and self._is_plain

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters ``kinds`` and ``where`` of queries.

        ``plain`` saves a query the reading of what only the rest of ``where`` needs. A time comes
        in two forms, because a graph may hold times without a zone, which are in UTC.
        """
        return {
            "kinds": list(self.kinds or ()),
            "where": {
                "plain": self._is_plain,
                "tags": list(self.tags),
                "created_from": _two_forms(self.created_from),
                "created_before": _two_forms(self.created_before),
                "metadata": sorted(self._pairs),
                "exclude_ids": sorted(self.exclude_ids),
            },
        }

    def fits(self, memory: MemoryNode) -> bool:
        """Tell whether a memory fits."""
        made = memory.created_at
        return (
            (self.kinds is None or memory.kind in self.kinds)
            and memory.id not in self.exclude_ids
            and set(self.tags).issubset(memory.tags)
            and (self.created_from is None or (made is not None and made >= self.created_from))
            and (self.created_before is None or (made is not None and made < self.created_before))
            and (not self.metadata or self._pairs.issubset(metadata_pairs(memory.metadata)))
        )

    @property
    def _pairs(self) -> set[str]:
        return {_pair(key, value) for key, value in self.metadata.items()}

    @property
    def _is_plain(self) -> bool:
        rest = (self.tags, self.metadata, self.exclude_ids)
        return not any(rest) and self.created_from is None and self.created_before is None


def filter_of(where: MemoryFilter | None, kinds: Iterable[str] | None = None) -> MemoryFilter:
    """Return the filter of a call that takes kinds by themselves, too."""
    if where is None:
        return MemoryFilter(kinds=kinds)  # type: ignore[arg-type]  # checked there
    if not isinstance(where, MemoryFilter):
        raise InvalidInputError(
            f"where must be a MemoryFilter, got {kind_of(where)}", field="where"
        )
    if kinds is None:
        return where
    if where.kinds is not None:
        raise InvalidInputError("kinds are given twice: leave them out of one", field="kinds")
    return replace(where, kinds=kinds)  # type: ignore[arg-type]  # checked there


def metadata_pairs(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a map in the form in which queries compare it: a text for each of its keys.

    A key whose value a filter can't ask for is listed without it.

    >>> metadata_pairs({"channel": "slack", "n": 2.0, "seen": True, "path": ["a"]})
    ('"channel": "slack"', '"n": 2', '"path":', '"seen": true')
    """
    return tuple(_stored_pair(key, metadata[key]) for key in sorted(metadata))


def _stored_pair(key: str, value: object) -> str:
    pair = _pair(key, value)
    return pair if len(pair) <= MAX_PAIR_CHARS else _pair(key, None)[:MAX_PAIR_CHARS]


def _pair(key: str, value: object) -> str:
    """Return a key with its value; equal numbers give equal texts."""
    if not isinstance(value, str | int | float):
        return f"{_text(key)}:"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{_text(key)}: {_text(value)}"


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _checked_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    checked = tuple(
        checks.check_kind(kind, "kinds") for kind in checks.check_strings(kinds, "kinds")
    )
    if not checked:
        raise InvalidInputError("kinds is empty: name some kinds, or leave it out", field="kinds")
    return checked


def _checked_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a filter asks of metadata, if it can be asked."""
    checked = checks.check_json_map(metadata, "metadata")
    for key, value in checked.items():
        if not isinstance(value, str | int | float):
            raise InvalidInputError(
                f"metadata can be asked for a string, a number, true or false, not "
                f"{kind_of(value)}",
                field="metadata",
            )
        try:
            size = len(_pair(key, value))
        except ValueError as exc:  # a number with more digits than Python converts
            raise InvalidInputError(
                f"metadata can't be written as JSON: {exc}", field="metadata"
            ) from exc
        if size > MAX_PAIR_CHARS:
            raise InvalidInputError(
                f"metadata can be asked for a key and a value of {MAX_PAIR_CHARS} characters "
                "together, at most",
                field="metadata",
            )
    return checked


def _two_forms(utc: datetime | None) -> list[datetime]:
    return [] if utc is None else [utc, utc.replace(tzinfo=None)]


def _set(instance: object, name: str, value: object) -> None:
    object.__setattr__(instance, name, value)
